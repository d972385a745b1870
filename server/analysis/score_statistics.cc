#include "server/analysis/score_statistics.h"

#include <algorithm>
#include <cmath>

namespace sinkd {

void ScoreGroup::Add(const std::optional<double>& score) {
  if (!score) {
    ++undefined_;
    return;
  }
  minimum_ = count_ == 0 ? *score : std::min(minimum_, *score);
  maximum_ = count_ == 0 ? *score : std::max(maximum_, *score);
  ++count_;
  sum_.Add(*score);
  squares_.AddProduct(*score, *score);
}

void ScoreGroup::Merge(const ScoreGroup& other) {
  undefined_ += other.undefined_;
  if (other.count_ == 0) return;
  minimum_ = count_ == 0 ? other.minimum_ : std::min(minimum_, other.minimum_);
  maximum_ = count_ == 0 ? other.maximum_ : std::max(maximum_, other.maximum_);
  count_ += other.count_;
  sum_.Add(other.sum_);
  squares_.Add(other.squares_);
}

v1::ScoreStatistics ScoreGroup::Statistics(v1::SinkKind kind) const {
  v1::ScoreStatistics s;
  s.set_kind(kind);
  s.set_count(count_);
  s.set_undefined(undefined_);
  if (count_ == 0) return s;
  s.set_minimum(minimum_);
  s.set_maximum(maximum_);
  const double n = static_cast<double>(count_);
  const double mean = sum_.value() / n;
  s.set_mean(mean);
  s.set_deviation(0);
  if (count_ < 2) return s;
  // Around the rounded mean m: sum x^2 - 2 m sum x + n m^2, without rounding before the end.
  ExactSum mean_squared, deviations = squares_;
  mean_squared.AddProduct(mean, mean);
  deviations.AddScaled(-2 * mean, sum_);
  deviations.AddScaled(n, mean_squared);
  s.set_deviation(std::sqrt(std::max(0.0, deviations.value()) / (n - 1)));
  return s;
}

void ScoreAccumulator::Add(const v1::SampleRecord& record) {
  primary_position_.Add(ScoreOf(record.primary()));
  for (const v1::Sink& sink : record.sinks()) OfKind(sink.kind()).Add(ScoreOf(sink));
}

void ScoreAccumulator::MergeSame(const ScoreAccumulator& other) {
  primary_position_.Merge(other.primary_position_);
  for (size_t i = 0; i < by_kind_.size(); ++i) by_kind_[i].Merge(other.by_kind_[i]);
}

void ScoreAccumulator::Report(v1::Summary& report) const {
  v1::ScoreReport& scores = *report.mutable_scores();
  *scores.mutable_primary_position() = primary_position_.Statistics(v1::SINK_KIND_PRIMARY);
  for (size_t i = 0; i < by_kind_.size(); ++i) {
    *scores.add_by_kind() = by_kind_[i].Statistics(kKinds[i]);
  }
}

}  // namespace sinkd
