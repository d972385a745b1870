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

ScoreStatistics ScoreGroup::Statistics(SinkKind kind) const {
  ScoreStatistics s{.kind = kind, .count = count_, .undefined = undefined_};
  if (count_ == 0) return s;
  s.minimum = minimum_;
  s.maximum = maximum_;
  const double n = static_cast<double>(count_);
  s.mean = sum_.value() / n;
  if (count_ < 2) return s;
  // Around the rounded mean m: sum x^2 - 2 m sum x + n m^2, without rounding before the end.
  ExactSum mean_squared, deviations = squares_;
  mean_squared.AddProduct(s.mean, s.mean);
  deviations.AddScaled(-2 * s.mean, sum_);
  deviations.AddScaled(n, mean_squared);
  s.deviation = std::sqrt(std::max(0.0, deviations.value()) / (n - 1));
  return s;
}

void ScoreAccumulator::Add(const SampleRecord& record) {
  primary_position_.Add(record.primary.score);
  for (const Sink& sink : record.sinks) by_kind_[static_cast<size_t>(sink.kind)].Add(sink.score);
}

void ScoreAccumulator::MergeSame(const ScoreAccumulator& other) {
  primary_position_.Merge(other.primary_position_);
  for (size_t i = 0; i < by_kind_.size(); ++i) by_kind_[i].Merge(other.by_kind_[i]);
}

void ScoreAccumulator::Report(SummaryReport& report) const {
  ScoreReport& scores = report.scores.emplace();
  scores.primary_position = primary_position_.Statistics(SinkKind::kPrimary);
  for (const SinkKind kind : {SinkKind::kPrimary, SinkKind::kSecondary, SinkKind::kNoise}) {
    scores.by_kind.push_back(by_kind_[static_cast<size_t>(kind)].Statistics(kind));
  }
}

}  // namespace sinkd
