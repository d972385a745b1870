#include "server/analysis/gates.h"

#include <algorithm>
#include <vector>

#include "server/analysis/record_part.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

// Of each block with attention and head, the mean of its gate over `positions`.
void AddMeansOver(const Trace& trace, const std::vector<int64_t>& positions,
                  google::protobuf::RepeatedField<float>& means) {
  if (positions.empty()) return;
  for (const int32_t l : trace.AttentionBlocks()) {
    for (int64_t h = 0; h < trace.heads; ++h) {
      double sum = 0;
      for (const int64_t t : positions) sum += trace.Gate(l, h, t);
      means.Add(static_cast<float>(sum / static_cast<double>(positions.size())));
    }
  }
}

void Write(const ExactMeans& means, google::protobuf::RepeatedField<double>& out) {
  const std::vector<double> values = means.Means();
  out.Assign(values.begin(), values.end());
}

}  // namespace

void FillGateMeans(const Trace& trace, v1::SampleRecord& record) {
  if (trace.gates.empty()) return;
  std::vector<int64_t> all, secondary;
  for (int64_t t = 0; t < trace.positions; ++t) all.push_back(t);
  for (const v1::Sink& sink : record.sinks()) {
    if (IsSecondary(sink)) secondary.push_back(sink.position());
  }
  v1::GateMeans& gates = *record.mutable_gates();
  AddMeansOver(trace, all, *gates.mutable_all());
  AddMeansOver(trace, {record.primary().position()}, *gates.mutable_primary());
  AddMeansOver(trace, secondary, *gates.mutable_secondary());
}

void GateAccumulator::Add(const v1::SampleRecord& record) {
  if (!record.has_gates()) return;
  blocks_ = AttentionBlockCount(record);
  all_.Add(SpanOf(record.gates().all()));
  primary_.Add(SpanOf(record.gates().primary()));
  secondary_.Add(SpanOf(record.gates().secondary()));
}

void GateAccumulator::MergeSame(const GateAccumulator& other) {
  if (blocks_ == 0) blocks_ = other.blocks_;
  all_.Merge(other.all_);
  primary_.Merge(other.primary_);
  secondary_.Merge(other.secondary_);
}

void GateAccumulator::Report(v1::Summary& report) const {
  if (all_.samples() == 0) return;
  v1::GateReport& gates = *report.mutable_gates();
  gates.set_samples(all_.samples());
  gates.set_samples_with_secondary(secondary_.samples());
  gates.set_heads(static_cast<int32_t>(static_cast<int64_t>(all_.size()) / blocks_));
  Write(all_, *gates.mutable_all());
  Write(primary_, *gates.mutable_primary());
  Write(secondary_, *gates.mutable_secondary());
}

absl::Status CheckGateMeans(const v1::SampleRecord& record) {
  if (!record.has_gates()) return absl::OkStatus();
  constexpr double kLeast = RecordPart::kLeastShare, kMost = RecordPart::kMostShare;
  const v1::GateMeans& gates = record.gates();
  const RecordPart part(record, "gates");
  const int64_t blocks = AttentionBlockCount(record);
  const int64_t values = std::max<int64_t>(gates.all_size() / blocks, 1) * blocks;
  SINKD_RETURN_IF_ERROR(part.Size("all", gates.all_size(), values, values));
  SINKD_RETURN_IF_ERROR(part.Size("primary", gates.primary_size(), values, values));
  if (!gates.secondary().empty()) {
    SINKD_RETURN_IF_ERROR(part.Size("secondary", gates.secondary_size(), values, values));
  }
  SINKD_RETURN_IF_ERROR(part.Numbers("all", gates.all(), kLeast, kMost));
  SINKD_RETURN_IF_ERROR(part.Numbers("primary", gates.primary(), kLeast, kMost));
  return part.Numbers("secondary", gates.secondary(), kLeast, kMost);
}

}  // namespace sinkd
