// Learned sinks: how much of the attention goes to no position at all, but to the logit that each
// head learned beside its keys (definitions: Attention received, sink scores, sink rate).
// Thread-safety: FillLearnedSinkMass is pure; the accumulator has none.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_means.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// [A] mean over heads; nothing when the model has no learned sinks.
void FillLearnedSinkMass(const Trace& trace, v1::SampleRecord& record);

// The mass of a record, if it has one (record_part.h).
absl::Status CheckLearnedSinkMass(const v1::SampleRecord& record);

// Reports nothing as long as no record has a mass.
class LearnedSinkAccumulator : public AccumulatorOf<LearnedSinkAccumulator> {
 public:
  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const LearnedSinkAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  ExactMeans mass_;  // [A]
};

}  // namespace sinkd
