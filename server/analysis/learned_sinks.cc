#include "server/analysis/learned_sinks.h"

#include "server/analysis/summary.h"

namespace sinkd {

std::vector<float> LearnedSinkMass(const Trace& trace) {
  std::vector<float> mass;
  if (trace.learned_sink_mass.empty()) return mass;
  for (const int32_t l : trace.AttentionBlocks()) {
    double sum = 0;
    for (int64_t h = 0; h < trace.heads; ++h) sum += trace.LearnedSinkMass(l, h);
    mass.push_back(static_cast<float>(sum / static_cast<double>(trace.heads)));
  }
  return mass;
}

void LearnedSinkAccumulator::Add(const SampleRecord& record) {
  if (record.learned_sink_mass.empty()) return;
  ++samples_;
  sums_.resize(record.learned_sink_mass.size());
  for (size_t l = 0; l < sums_.size(); ++l) {
    sums_[l].Add(static_cast<double>(record.learned_sink_mass[l]));
  }
}

void LearnedSinkAccumulator::MergeSame(const LearnedSinkAccumulator& other) {
  if (other.samples_ == 0) return;
  samples_ += other.samples_;
  sums_.resize(other.sums_.size());
  for (size_t l = 0; l < sums_.size(); ++l) sums_[l].Add(other.sums_[l]);
}

void LearnedSinkAccumulator::Report(SummaryReport& report) const {
  if (samples_ == 0) return;
  LearnedSinkReport& learned = report.learned_sinks.emplace();
  learned.samples = samples_;
  for (const ExactSum& sum : sums_) {
    learned.mass.push_back(sum.value() / static_cast<double>(samples_));
  }
}

}  // namespace sinkd
