// Compensation: whether secondary sinks take over where the primary sink is weak (definitions:
// Compensation). Folds the curves of samples; intervals come from compensation_bootstrap.h.
//
// The weakest block of a sample is that of WeakestBlock (weakest_block.h); a sample without
// one counts in everything else.
// Samples are sorted by their curves, bit by bit, before anything random happens, so that intervals
// do not depend on the order of records. Records without curves are not counted.
// Thread-safety: none.
#pragma once

#include <map>
#include <vector>

#include "server/analysis/accumulator.h"
#include "server/analysis/compensation_bootstrap.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"

namespace sinkd {

class CompensationAccumulator : public AccumulatorOf<CompensationAccumulator> {
 public:
  explicit CompensationAccumulator(const v1::CompensationParameters& parameters)
      : parameters_(parameters) {}

  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const CompensationAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  v1::CompensationParameters parameters_;
  std::vector<CompensationSample> samples_;
  std::map<int32_t, int64_t> weakest_block_;
  std::map<int32_t, int64_t> start_minus_weakest_;
};

}  // namespace sinkd
