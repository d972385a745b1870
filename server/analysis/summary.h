// Summary: a fold over records. Add records in any order, merge summaries of disjoint sets in any
// order: Report() gives the same numbers to the last bit. The same fold serves a live stream, a
// stored run, a query over many runs, and shards from many machines.
//
// Memory: O(distinct levels + tokens) plus one point per sink for the regression and one set of
// curves per sample for the compensation bootstrap. Report() sorts the points and draws the
// bootstrap: call it for the end of a run, not for every record. Thread-safety: none; one thread at
// a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"

namespace sinkd {

class Summary {
 public:
  explicit Summary(v1::AnalysisSpec spec);
  Summary(const Summary& other);
  Summary& operator=(const Summary& other);
  Summary(Summary&&) noexcept;
  Summary& operator=(Summary&&) noexcept;
  ~Summary();

  const v1::AnalysisSpec& spec() const { return spec_; }

  // INVALID_ARGUMENT when the record has other layers or attention in other blocks than those
  // before, or contradicts itself (imported ones can): a window outside the layers, a position
  // outside the sample, curves of another length, numbers that are not finite. The summary is then
  // unchanged. A record that lacks what an analysis needs is not counted by that analysis.
  absl::Status Add(const v1::SampleRecord& record);
  // INVALID_ARGUMENT when the parameters, the number of layers or the blocks with attention differ.
  absl::Status Merge(const Summary& other);
  v1::Summary Report() const;

 private:
  v1::AnalysisSpec spec_;
  int64_t layers_ = 0;  // 0 until the first record
  std::vector<int32_t> attention_blocks_;
  int64_t samples_ = 0;
  int64_t positions_ = 0;
  int64_t undecided_samples_ = 0;
  std::map<std::string, int64_t> arithmetics_;  // samples by v1::SampleRecord::arithmetic
  // Of the requested analyses, in catalog order; then learned sinks and gates, if any looks at
  // attention.
  std::vector<std::unique_ptr<Accumulator>> parts_;
};

}  // namespace sinkd
