#include "server/analysis/gates.h"

#include "server/analysis/summary.h"

namespace sinkd {
namespace {

// Of each block with attention and head, the mean of its gate over `positions`.
std::vector<float> MeansOver(const Trace& trace, const std::vector<int64_t>& positions) {
  std::vector<float> means;
  if (positions.empty()) return means;
  for (const int32_t l : trace.AttentionBlocks()) {
    for (int64_t h = 0; h < trace.heads; ++h) {
      double sum = 0;
      for (const int64_t t : positions) sum += trace.Gate(l, h, t);
      means.push_back(static_cast<float>(sum / static_cast<double>(positions.size())));
    }
  }
  return means;
}

}  // namespace

std::optional<GateMeans> MakeGateMeans(const Trace& trace, const SampleRecord& record) {
  if (trace.gates.empty()) return std::nullopt;
  std::vector<int64_t> all, secondary;
  for (int64_t t = 0; t < trace.positions; ++t) all.push_back(t);
  for (const Sink& sink : record.sinks) {
    if (sink.kind == SinkKind::kSecondary) secondary.push_back(sink.position);
  }
  return GateMeans{.all = MeansOver(trace, all),
                   .primary = MeansOver(trace, {record.primary.position}),
                   .secondary = MeansOver(trace, secondary)};
}

void GateAccumulator::Add(const SampleRecord& record) {
  if (!record.gates) return;
  blocks_ = record.AttentionBlocks();
  all_.Add(record.gates->all);
  primary_.Add(record.gates->primary);
  secondary_.Add(record.gates->secondary);
}

void GateAccumulator::MergeSame(const GateAccumulator& other) {
  if (blocks_ == 0) blocks_ = other.blocks_;
  all_.Merge(other.all_);
  primary_.Merge(other.primary_);
  secondary_.Merge(other.secondary_);
}

void GateAccumulator::Report(SummaryReport& report) const {
  if (all_.samples() == 0) return;
  report.gates = GateReport{.samples = all_.samples(),
                            .samples_with_secondary = secondary_.samples(),
                            .heads = static_cast<int64_t>(all_.size()) / blocks_,
                            .all = all_.Means(),
                            .primary = primary_.Means(),
                            .secondary = secondary_.Means()};
}

}  // namespace sinkd
