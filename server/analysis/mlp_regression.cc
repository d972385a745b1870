#include "server/analysis/mlp_regression.h"

#include <algorithm>
#include <tuple>

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

void Write(const std::vector<RegressionPoint>& points,
           google::protobuf::RepeatedPtrField<v1::RegressionPoint>& out) {
  for (const RegressionPoint& point : points) {
    v1::RegressionPoint& added = *out.Add();
    added.set_x(point.x);
    added.set_y(point.y);
  }
}

}  // namespace

void MlpRegressionAccumulator::AddSink(const v1::Sink& sink) {
  lifetime_points_.push_back({sink.mlp_norm(), static_cast<double>(sink.lifetime())});
  if (sink.has_score()) {
    score_points_.push_back({sink.mlp_norm(), sink.score()});
  } else {
    ++without_score_;
  }
}

void MlpRegressionAccumulator::Add(const v1::SampleRecord& record) {
  if (parameters_.include_primary()) AddSink(record.primary());
  for (const v1::Sink& sink : record.sinks()) {
    const bool primary = sink.kind() == v1::SINK_KIND_PRIMARY && parameters_.include_primary();
    if (primary || IsSecondary(sink)) AddSink(sink);
  }
}

void MlpRegressionAccumulator::MergeSame(const MlpRegressionAccumulator& other) {
  without_score_ += other.without_score_;
  Append(score_points_, other.score_points_);
  Append(lifetime_points_, other.lifetime_points_);
}

void MlpRegressionAccumulator::Report(v1::Summary& report) const {
  v1::RegressionReport& regression = *report.mutable_regression();
  const std::vector<RegressionPoint> score = Sorted(score_points_);
  const std::vector<RegressionPoint> lifetime = Sorted(lifetime_points_);
  *regression.mutable_score() = Regress(score);
  *regression.mutable_lifetime() = Regress(lifetime);
  regression.set_without_score(without_score_);
  if (!parameters_.points()) return;
  Write(score, *regression.mutable_score_points());
  Write(lifetime, *regression.mutable_lifetime_points());
}

}  // namespace sinkd
