// Slope and fit of the regression of score or lifetime on the MLP norm (definitions: MLP norm
// against score and lifetime).
#include <array>
#include <cmath>

#include "server/analysis/resampling.h"
#include "server/audit/measures.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

bool IsLogOfX(v1::RegressionForm form) {
  return form == v1::REGRESSION_FORM_LINEAR_LOG || form == v1::REGRESSION_FORM_LOG_LOG;
}

bool IsLogOfY(v1::RegressionForm form) {
  return form == v1::REGRESSION_FORM_LOG_LINEAR || form == v1::REGRESSION_FORM_LOG_LOG;
}

std::vector<RegressionPoint> PointsOf(const MeasureOptions& options, const AuditUnit& unit) {
  std::vector<RegressionPoint> points;
  for (const SecondarySink& sink : unit.sinks) {
    const std::optional<double> y =
        options.lifetime ? std::optional<double>(sink.level.lifetime) : sink.score;
    if (!y || (IsLogOfX(options.form) && sink.mlp_norm <= 0)) continue;
    if (IsLogOfY(options.form) && *y <= 0) continue;
    points.push_back({.x = sink.mlp_norm, .y = *y});
  }
  return points;
}

struct Line {
  bool exists = false;
  double slope = 0;
  double squared_error = 0;  // of the slope
  double r_squared = 0;
};

Line FitSums(const PointSums& sums) {
  if (sums.n < 3) return {};
  const double xx = sums.xx - sums.x * sums.x / sums.n;
  const double xy = sums.xy - sums.x * sums.y / sums.n;
  const double yy = sums.yy - sums.y * sums.y / sums.n;
  // What is left of equal values by rounding is no variance.
  if (xx <= 1e-12 * sums.xx || yy <= 1e-12 * sums.yy) return {};
  const double rest = std::max(0.0, yy - xy * xy / xx);
  return {.exists = true,
          .slope = xy / xx,
          .squared_error = rest / (sums.n - 2) / xx,
          .r_squared = xy * xy / (xx * yy)};
}

// By unit, about the common mean, which keeps their digits.
std::vector<PointSums> SumsOf(const MeasureOptions& options, UnitSpan units) {
  std::vector<std::vector<RegressionPoint>> points;
  PointSums all;
  for (const AuditUnit* unit : units) {
    points.push_back(PointsOf(options, *unit));
    for (RegressionPoint& point : points.back()) {
      if (IsLogOfX(options.form)) point.x = std::log(point.x);
      if (IsLogOfY(options.form)) point.y = std::log(point.y);
      all.Add(point.x, point.y);
    }
  }
  std::vector<PointSums> sums(units.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    for (const RegressionPoint& point : points[i]) {
      sums[i].Add(point.x - all.x / all.n, point.y - all.y / all.n);
    }
  }
  return sums;
}

WeightedValue WeightedLine(const MeasureOptions& options, UnitSpan units, bool slope) {
  return [slope, sums = SumsOf(options, units)](
             std::span<const int32_t> weights) -> std::optional<double> {
    PointSums all;
    for (size_t i = 0; i < sums.size(); ++i) all.Add(sums[i], weights[i]);
    const Line line = FitSums(all);
    if (!line.exists) return std::nullopt;
    return slope ? line.slope : line.r_squared;
  };
}

// Between slopes in standard errors of their difference, or between the two R squared.
class DistanceOfLines final : public Statistic {
 public:
  DistanceOfLines(const MeasureOptions& options, const Pool& pool, bool slopes)
      : slopes_(slopes), units_(SumsOf(options, pool.units())) {}

  double At(const Sides& sides) override {
    std::array<PointSums, 2> sums{};
    for (size_t i = 0; i < units_.size(); ++i) sums[sides[i]].Add(units_[i], 1);
    const Line candidate = FitSums(sums[kCandidate]);
    const Line baseline = FitSums(sums[kBaseline]);
    // A side without a line is as far from the other as can be.
    if (!candidate.exists || !baseline.exists) return HUGE_VAL;
    if (!slopes_) return std::fabs(candidate.r_squared - baseline.r_squared);
    const double difference = std::fabs(candidate.slope - baseline.slope);
    const double error = std::sqrt(candidate.squared_error + baseline.squared_error);
    return difference == 0 ? 0 : difference / error;
  }

 private:
  const bool slopes_;
  const std::vector<PointSums> units_;
};

v1::Fit FitUnits(const MeasureOptions& options, UnitSpan units) {
  std::vector<RegressionPoint> points;
  for (size_t i = 0; i < units.size(); ++i) {
    for (RegressionPoint point : PointsOf(options, *units[i])) {
      point.sample = static_cast<int64_t>(i);
      points.push_back(point);
    }
  }
  return FitForm(options.form, points, Errors::kBySample);
}

Reading ReadSlope(const MeasureOptions& options, UnitSpan units) {
  const v1::Fit fit = FitUnits(options, units);
  if (fit.has_undefined()) return {.value = std::nullopt, .detail = fit.undefined()};
  Reading reading{.value = fit.slope().value(), .detail = ""};
  if (!fit.slope().has_standard_error()) return reading;
  reading.detail = StrCat("standard error over samples ", fit.slope().standard_error(),
                          ", 95% from ", fit.slope().lower(), " to ", fit.slope().upper());
  return reading;
}

Reading ReadRSquared(const MeasureOptions& options, UnitSpan units) {
  const v1::Fit fit = FitUnits(options, units);
  if (fit.has_undefined()) return {.value = std::nullopt, .detail = fit.undefined()};
  return {.value = fit.r_squared(), .detail = ""};
}

Measure LineMeasure(std::string_view name, std::string_view text, bool slopes) {
  Measure measure;
  measure.name = name;
  measure.text = text;
  measure.basis = Basis::kSinks;
  measure.has_regression = true;
  measure.count = [](const MeasureOptions& options, UnitSpan units) {
    int64_t count = 0;
    for (const AuditUnit* unit : units) {
      count += static_cast<int64_t>(PointsOf(options, *unit).size());
    }
    return count;
  };
  measure.read = slopes ? ReadSlope : ReadRSquared;
  measure.weighted = [slopes](const MeasureOptions& options, UnitSpan units) {
    return WeightedLine(options, units, slopes);
  };
  measure.statistic = [slopes](const MeasureOptions& options, const Pool& pool) {
    return std::make_unique<DistanceOfLines>(options, pool, slopes);
  };
  return measure;
}

}  // namespace

void AddLineMeasures(std::vector<Measure>& measures) {
  measures.push_back(LineMeasure("regression_slope", "slope of the MLP norm's regression", true));
  measures.push_back(
      LineMeasure("regression_r_squared", "R squared of the MLP norm's regression", false));
}

}  // namespace sinkd
