// Sink rate: how often a position receives more attention than epsilon (Gu et al. 2024, arXiv
// 2410.10781; definitions: Attention received and sink scores).
//
// With first_tokens P every sample is cut to its first P tokens (T := P, queries past P do not
// count) and shorter samples are left out. With exclude_self the last position has no alpha: its
// entry in `hits` is 0 and does not count.
// Thread-safety: CountSinkRate is pure; the accumulator has none.
#pragma once

#include <vector>

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// spec.sink_rate must be set.
v1::SinkRateCounts CountSinkRate(const v1::AnalysisSpec& spec, const Trace& trace);

// The sink rate of a record, if it has one (record_part.h).
absl::Status CheckSinkRate(const v1::SampleRecord& record);

class SinkRateAccumulator : public AccumulatorOf<SinkRateAccumulator> {
 public:
  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const SinkRateAccumulator& other);
  // Rates end before the first position that no sample has a value for.
  void Report(v1::Summary& report) const override;

 private:
  void Grow(size_t size);

  int64_t samples_ = 0;
  int64_t left_out_ = 0;
  std::vector<int64_t> hits_;   // by position
  std::vector<int64_t> cells_;  // by position
};

}  // namespace sinkd
