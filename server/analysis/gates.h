// Gates: how much of what attention gives its gate lets through, at all queries and at sinks
// (definitions: Gates).
// Thread-safety: FillGateMeans is pure; the accumulator has none.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_means.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// `record` must hold the sample's primary sink and sinks. It gets no gates where attention is not
// gated.
void FillGateMeans(const Trace& trace, v1::SampleRecord& record);

// The gates of a record, if it has some (record_part.h).
absl::Status CheckGateMeans(const v1::SampleRecord& record);

// Reports nothing as long as no record has gates.
class GateAccumulator : public AccumulatorOf<GateAccumulator> {
 public:
  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const GateAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  int64_t blocks_ = 0;                    // A
  ExactMeans all_, primary_, secondary_;  // [A, H]
};

}  // namespace sinkd
