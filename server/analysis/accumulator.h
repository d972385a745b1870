// Accumulator: one analysis' part of a Summary - a fold over records that can be merged.
//
// The contract of every accumulator: the report depends on the set of records alone, not on the
// order in which they were added or how they were split over accumulators that were merged: to the
// last bit, because sums are exact (exact_sum.h) and anything that depends on order is sorted by
// content (never by sample_index, which shards may share).
// Thread-safety: none.
#pragma once

#include <memory>

#include "server/analysis/records.h"

namespace sinkd {

class Accumulator {
 public:
  virtual ~Accumulator() = default;

  // `record` has passed Summary::Add's checks. Records that lack what the analysis needs (imported
  // ones may) are not counted by it.
  virtual void Add(const v1::SampleRecord& record) = 0;
  // `other` is of the same class and was made with the same parameters.
  virtual void Merge(const Accumulator& other) = 0;
  // Writes this analysis' field of `report`, and its notes.
  virtual void Report(v1::Summary& report) const = 0;
  virtual std::unique_ptr<Accumulator> Clone() const = 0;
};

// Implements Clone and Merge for a copyable Derived that has MergeSame(const Derived&).
template <typename Derived>
class AccumulatorOf : public Accumulator {
 public:
  void Merge(const Accumulator& other) override {
    static_cast<Derived&>(*this).MergeSame(static_cast<const Derived&>(other));
  }
  std::unique_ptr<Accumulator> Clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

}  // namespace sinkd
