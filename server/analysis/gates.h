// Gates: how much of what attention gives its gate lets through, at all queries and at sinks
// (definitions: Gates).
// Thread-safety: MakeGateMeans is pure; the accumulator has none.
#pragma once

#include <optional>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_means.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// `record` must hold the sample's primary sink and sinks. Nothing where attention is not gated.
std::optional<GateMeans> MakeGateMeans(const Trace& trace, const SampleRecord& record);

// Reports nothing as long as no record has gates.
class GateAccumulator : public AccumulatorOf<GateAccumulator> {
 public:
  void Add(const SampleRecord& record) override;
  void MergeSame(const GateAccumulator& other);
  void Report(SummaryReport& report) const override;

 private:
  int64_t blocks_ = 0;                    // A
  ExactMeans all_, primary_, secondary_;  // [A, H]
};

}  // namespace sinkd
