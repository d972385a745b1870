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
  mass_.Add(record.learned_sink_mass);
}

void LearnedSinkAccumulator::MergeSame(const LearnedSinkAccumulator& other) {
  mass_.Merge(other.mass_);
}

void LearnedSinkAccumulator::Report(SummaryReport& report) const {
  if (mass_.samples() == 0) return;
  report.learned_sinks = LearnedSinkReport{.samples = mass_.samples(), .mass = mass_.Means()};
}

}  // namespace sinkd
