#include "server/analysis/mlp_regression.h"

#include <algorithm>
#include <tuple>

namespace sinkd {
namespace {

using Points = std::vector<RegressionPoint>;

bool Before(const RegressionPoint& a, const RegressionPoint& b) {
  return std::tie(a.x, a.y, a.sample) < std::tie(b.x, b.y, b.sample);
}

// All points, with the number of their sample among the samples in order.
Points Sorted(std::vector<Points> samples) {
  for (Points& points : samples) std::sort(points.begin(), points.end(), Before);
  std::sort(samples.begin(), samples.end(), [](const Points& a, const Points& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), Before);
  });
  Points all;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (const RegressionPoint& point : samples[i]) {
      all.push_back({.x = point.x, .y = point.y, .sample = static_cast<int64_t>(i)});
    }
  }
  std::sort(all.begin(), all.end(), Before);
  return all;
}

void Append(std::vector<Points>& samples, const std::vector<Points>& more) {
  samples.insert(samples.end(), more.begin(), more.end());
}

void Write(const Points& points, google::protobuf::RepeatedPtrField<v1::RegressionPoint>& out) {
  for (const RegressionPoint& point : points) {
    v1::RegressionPoint& added = *out.Add();
    added.set_x(point.x);
    added.set_y(point.y);
  }
}

}  // namespace

void MlpRegressionAccumulator::AddSink(const v1::Sink& sink) {
  lifetime_points_.back().push_back(
      {.x = sink.mlp_norm(), .y = static_cast<double>(sink.lifetime())});
  if (sink.has_score()) {
    score_points_.back().push_back({.x = sink.mlp_norm(), .y = sink.score()});
  } else {
    ++without_score_;
  }
}

void MlpRegressionAccumulator::Add(const v1::SampleRecord& record) {
  score_points_.emplace_back();
  lifetime_points_.emplace_back();
  if (parameters_.include_primary()) AddSink(record.primary());
  for (const v1::Sink& sink : record.sinks()) {
    const bool primary = sink.kind() == v1::SINK_KIND_PRIMARY && parameters_.include_primary();
    if (primary || IsSecondary(sink)) AddSink(sink);
  }
  if (score_points_.back().empty()) score_points_.pop_back();
  if (lifetime_points_.back().empty()) lifetime_points_.pop_back();
}

void MlpRegressionAccumulator::MergeSame(const MlpRegressionAccumulator& other) {
  without_score_ += other.without_score_;
  Append(score_points_, other.score_points_);
  Append(lifetime_points_, other.lifetime_points_);
}

void MlpRegressionAccumulator::Report(v1::Summary& report) const {
  v1::RegressionReport& regression = *report.mutable_regression();
  const Points score = Sorted(score_points_);
  const Points lifetime = Sorted(lifetime_points_);
  *regression.mutable_score() = Regress(score, Errors::kBySample);
  *regression.mutable_lifetime() = Regress(lifetime, Errors::kBySample);
  regression.set_without_score(without_score_);
  if (!parameters_.points()) return;
  Write(score, *regression.mutable_score_points());
  Write(lifetime, *regression.mutable_lifetime_points());
}

}  // namespace sinkd
