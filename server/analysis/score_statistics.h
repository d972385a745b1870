// Score statistics: count, mean, deviation and range of sink scores, by kind.
// Thread-safety: none.
#pragma once

#include <array>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_sum.h"
#include "server/analysis/records.h"
#include "server/analysis/summary.h"

namespace sinkd {

// One group's statistics, kept as sums: values are not stored.
class ScoreGroup {
 public:
  void Add(const std::optional<double>& score);
  void Merge(const ScoreGroup& other);
  ScoreStatistics Statistics(SinkKind kind) const;

 private:
  int64_t count_ = 0;
  int64_t undefined_ = 0;
  double minimum_ = 0, maximum_ = 0;
  ExactSum sum_, squares_;
};

class ScoreAccumulator : public AccumulatorOf<ScoreAccumulator> {
 public:
  void Add(const SampleRecord& record) override;
  void MergeSame(const ScoreAccumulator& other);
  void Report(SummaryReport& report) const override;

 private:
  ScoreGroup primary_position_;
  std::array<ScoreGroup, 3> by_kind_;  // by SinkKind
};

}  // namespace sinkd
