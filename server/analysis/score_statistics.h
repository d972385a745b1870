// Score statistics: count, mean, deviation and range of sink scores, by kind.
// Thread-safety: none.
#pragma once

#include <array>
#include <optional>

#include "server/analysis/accumulator.h"
#include "server/analysis/exact_sum.h"
#include "server/analysis/records.h"

namespace sinkd {

// One group's statistics, kept as sums: values are not stored.
class ScoreGroup {
 public:
  void Add(const std::optional<double>& score);
  void Merge(const ScoreGroup& other);
  v1::ScoreStatistics Statistics(v1::SinkKind kind) const;

 private:
  int64_t count_ = 0;
  int64_t undefined_ = 0;
  double minimum_ = 0, maximum_ = 0;
  ExactSum sum_, squares_;
};

class ScoreAccumulator : public AccumulatorOf<ScoreAccumulator> {
 public:
  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const ScoreAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  static constexpr std::array<v1::SinkKind, 3> kKinds = {
      v1::SINK_KIND_PRIMARY, v1::SINK_KIND_SECONDARY, v1::SINK_KIND_NOISE};

  // Of a kind among kKinds, whose numbers follow each other.
  ScoreGroup& OfKind(v1::SinkKind kind) {
    return by_kind_[static_cast<size_t>(kind - v1::SINK_KIND_PRIMARY)];
  }

  ScoreGroup primary_position_;
  std::array<ScoreGroup, 3> by_kind_;  // as kKinds
};

}  // namespace sinkd
