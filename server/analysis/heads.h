// Heads: what each head does - how spread its attention is, where it goes, and what the values
// there add to the residual stream (definitions: Heads). Thread-safety: FillHeads is pure; the
// accumulator has none.
#pragma once

#include <array>

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_means.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// `record` must hold the sample's primary sink and sinks; it gets `heads`, without values when no
// query lies past the primary sink.
void FillHeads(const v1::AnalysisSpec& spec, const Trace& trace, v1::SampleRecord& record);

// The heads of a record, if it has them (record_part.h).
absl::Status CheckHeads(const v1::SampleRecord& record);

class HeadAccumulator : public AccumulatorOf<HeadAccumulator> {
 public:
  static constexpr size_t kMeans = 12;  // matrices that HeadMeans and HeadReport share

  explicit HeadAccumulator(v1::HeadParameters parameters) : parameters_(std::move(parameters)) {}

  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const HeadAccumulator& other);
  // Without samples, their numbers alone.
  void Report(v1::Summary& report) const override;

 private:
  void AddShares(v1::HeadReport& heads) const;
  void AddFlags(v1::HeadReport& heads) const;

  v1::HeadParameters parameters_;
  std::vector<int32_t> blocks_;  // with attention
  int64_t left_out_ = 0;
  std::array<ExactMeans, kMeans> means_;  // [A, H], in the fields' order
  ExactMeans gate_;                       // [A, H]
};

}  // namespace sinkd
