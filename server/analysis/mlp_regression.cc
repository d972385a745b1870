#include "server/analysis/mlp_regression.h"

#include <algorithm>
#include <tuple>

#include "server/analysis/summary.h"

namespace sinkd {
namespace {

std::vector<RegressionPoint> Sorted(std::vector<RegressionPoint> points) {
  std::sort(points.begin(), points.end(), [](const RegressionPoint& a, const RegressionPoint& b) {
    return std::tie(a.x, a.y) < std::tie(b.x, b.y);
  });
  return points;
}

void Append(std::vector<RegressionPoint>& points, const std::vector<RegressionPoint>& more) {
  points.insert(points.end(), more.begin(), more.end());
}

}  // namespace

void MlpRegressionAccumulator::AddSink(const Sink& sink) {
  lifetime_points_.push_back({sink.mlp_norm, static_cast<double>(sink.level.lifetime)});
  if (sink.score) {
    score_points_.push_back({sink.mlp_norm, *sink.score});
  } else {
    ++without_score_;
  }
}

void MlpRegressionAccumulator::Add(const SampleRecord& record) {
  if (parameters_.include_primary()) AddSink(record.primary);
  for (const Sink& sink : record.sinks) {
    const bool primary = sink.kind == SinkKind::kPrimary && parameters_.include_primary();
    if (primary || sink.kind == SinkKind::kSecondary) AddSink(sink);
  }
}

void MlpRegressionAccumulator::MergeSame(const MlpRegressionAccumulator& other) {
  without_score_ += other.without_score_;
  Append(score_points_, other.score_points_);
  Append(lifetime_points_, other.lifetime_points_);
}

void MlpRegressionAccumulator::Report(SummaryReport& report) const {
  RegressionReport& regression = report.regression.emplace();
  std::vector<RegressionPoint> score = Sorted(score_points_);
  std::vector<RegressionPoint> lifetime = Sorted(lifetime_points_);
  regression.score = Regress(score);
  regression.lifetime = Regress(lifetime);
  regression.without_score = without_score_;
  if (!parameters_.points()) return;
  regression.score_points = std::move(score);
  regression.lifetime_points = std::move(lifetime);
}

}  // namespace sinkd
