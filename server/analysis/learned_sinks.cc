#include "server/analysis/learned_sinks.h"

#include <vector>

#include "server/analysis/record_part.h"

namespace sinkd {

void FillLearnedSinkMass(const Trace& trace, v1::SampleRecord& record) {
  if (trace.learned_sink_mass.empty()) return;
  for (const int32_t l : trace.AttentionBlocks()) {
    double sum = 0;
    for (int64_t h = 0; h < trace.heads; ++h) sum += trace.LearnedSinkMass(l, h);
    record.add_learned_sink_mass(static_cast<float>(sum / static_cast<double>(trace.heads)));
  }
}

void LearnedSinkAccumulator::Add(const v1::SampleRecord& record) {
  mass_.Add(SpanOf(record.learned_sink_mass()));
}

void LearnedSinkAccumulator::MergeSame(const LearnedSinkAccumulator& other) {
  mass_.Merge(other.mass_);
}

void LearnedSinkAccumulator::Report(v1::Summary& report) const {
  if (mass_.samples() == 0) return;
  report.mutable_learned_sinks()->set_samples(mass_.samples());
  const std::vector<double> mass = mass_.Means();
  report.mutable_learned_sinks()->mutable_mass()->Assign(mass.begin(), mass.end());
}

absl::Status CheckLearnedSinkMass(const v1::SampleRecord& record) {
  if (record.learned_sink_mass().empty()) return absl::OkStatus();
  return RecordPart(record).Curve("learned_sink_mass", record.learned_sink_mass(),
                                  RecordPart::kLeastShare, RecordPart::kMostShare);
}

}  // namespace sinkd
