#include "server/analysis/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/analysis/distributions.h"
#include "server/analysis/mid_ranks.h"

namespace sinkd {
namespace {

bool LogX(v1::RegressionForm form) {
  return form == v1::REGRESSION_FORM_LINEAR_LOG || form == v1::REGRESSION_FORM_LOG_LOG;
}
bool LogY(v1::RegressionForm form) {
  return form == v1::REGRESSION_FORM_LOG_LINEAR || form == v1::REGRESSION_FORM_LOG_LOG;
}

// The arithmetic runs in long double: where residuals are a billionth of the data, double has no
// digits left for them.
using Real = long double;
using Values = std::vector<Real>;

Values Widen(std::span<const double> values) {
  return {values.begin(), values.end()};
}

// One axis of the data. Everything is computed on values divided by 2^exponent, so that squares of
// very large or very small numbers neither overflow nor vanish; the division is exact.
struct Axis {
  int exponent = 0;
  Values deviation;  // [n] (value - mean) / 2^exponent
  Real mean = 0;     // / 2^exponent
  Real squares = 0;  // sum of deviation^2
};

Axis MakeAxis(const Values& values) {
  Axis axis;
  Real largest = 0;
  for (const Real value : values) largest = std::max(largest, std::fabs(value));
  if (largest > 0) std::frexp(largest, &axis.exponent);
  for (const Real value : values) {
    axis.deviation.push_back(std::ldexp(value, -axis.exponent));
    axis.mean += axis.deviation.back();
  }
  axis.mean /= static_cast<Real>(values.size());
  for (Real& deviation : axis.deviation) {
    deviation -= axis.mean;
    axis.squares += deviation * deviation;
  }
  return axis;
}

Real SumOfProducts(const Axis& x, const Axis& y) {
  return std::inner_product(x.deviation.begin(), x.deviation.end(), y.deviation.begin(), Real{0});
}

// Residual sum of squares around slope (in scaled units). Residuals that are nothing but the
// rounding of the data to double count as zero: a perfect fit must be recognized as one whether or
// not its slope happens to be a binary fraction. The bound against y's own variance keeps data that
// differ by roundings alone from counting as a perfect fit.
Real ResidualSquares(const Axis& x, const Axis& y, Real slope) {
  constexpr Real kRounding = 4 * std::numeric_limits<double>::epsilon();
  Real squares = 0, floor = 0;
  for (size_t i = 0; i < x.deviation.size(); ++i) {
    const Real residual = y.deviation[i] - slope * x.deviation[i];
    const Real scale = std::fabs(y.deviation[i]) + std::fabs(y.mean) +
                       std::fabs(slope) * (std::fabs(x.deviation[i]) + std::fabs(x.mean));
    squares += residual * residual;
    floor += kRounding * scale * kRounding * scale;
  }
  return squares <= std::min(floor, 1e-18L * y.squares) ? 0 : squares;
}

std::string WhyUndefined(const Values& x, const Values& y) {
  const auto finite = [](Real value) { return std::isfinite(value); };
  const auto constant = [](const Values& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](Real value) { return value == values[0]; });
  };
  if (x.size() != y.size()) return "x and y differ in length";
  if (x.size() < 3) return "fewer than 3 points";
  if (!std::all_of(x.begin(), x.end(), finite) || !std::all_of(y.begin(), y.end(), finite)) {
    return "a value is not finite";
  }
  if (constant(x)) return "zero variance in x";
  if (constant(y)) return "zero variance in y";
  return {};
}

// Standard errors of a line, in scaled units.
struct LineErrors {
  Real slope = 0;
  Real intercept = 0;
  double degrees = 0;  // of freedom
};

LineErrors NaiveErrors(const Axis& x, Real rss) {
  const Real n = static_cast<Real>(x.deviation.size());
  const auto degrees = static_cast<double>(n - 2);
  const Real slope = std::sqrt(rss / degrees) / std::sqrt(x.squares);
  return {.slope = slope,
          .intercept = slope * std::sqrt(x.squares / n + x.mean * x.mean),
          .degrees = degrees};
}

int64_t CountSamples(std::span<const int64_t> samples) {
  return static_cast<int64_t>(std::set<int64_t>(samples.begin(), samples.end()).size());
}

// The sandwich: what each sample adds to the slope and to the intercept, squared and summed.
LineErrors ErrorsBySample(const Axis& x, const Axis& y, Real slope, Real rss,
                          std::span<const int64_t> samples) {
  struct Influence {
    Real slope = 0, intercept = 0;
  };
  const Real n = static_cast<Real>(samples.size());
  std::map<int64_t, Influence> of_sample;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Real residual = y.deviation[i] - slope * x.deviation[i];
    const Real on_slope = residual * x.deviation[i] / x.squares;
    Influence& influence = of_sample[samples[i]];
    influence.slope += on_slope;
    influence.intercept += residual / n - x.mean * on_slope;
  }
  const Real groups = static_cast<Real>(of_sample.size());
  LineErrors errors{.degrees = static_cast<double>(groups - 1)};
  if (rss == 0) return errors;
  for (const auto& [sample, influence] : of_sample) {
    errors.slope += influence.slope * influence.slope;
    errors.intercept += influence.intercept * influence.intercept;
  }
  const Real correction = groups / (groups - 1) * (n - 1) / (n - 2);
  errors.slope = std::sqrt(errors.slope * correction);
  errors.intercept = std::sqrt(errors.intercept * correction);
  return errors;
}

// Nothing where there are none: by sample, of one sample. `samples` is empty for naive errors.
std::optional<LineErrors> ErrorsOf(const Axis& x, const Axis& y, Real slope, Real rss,
                                   std::span<const int64_t> samples) {
  if (samples.empty()) return NaiveErrors(x, rss);
  if (CountSamples(samples) < 2) return std::nullopt;
  return ErrorsBySample(x, y, slope, rss, samples);
}

// From scaled units; the t, a ratio, is taken before scaling can overflow or vanish.
v1::Coefficient MakeCoefficient(Real value, const std::optional<LineErrors>& errors,
                                Real LineErrors::*which, int exponent) {
  const auto scaled = [&](Real real) { return static_cast<double>(std::ldexp(real, exponent)); };
  v1::Coefficient c;
  c.set_value(scaled(value));
  if (!errors) return c;
  const Real standard_error = *errors.*which;
  const double degrees = errors->degrees;
  c.set_standard_error(scaled(standard_error));
  double t = 0, p = 1;
  if (standard_error > 0) {
    t = static_cast<double>(value / standard_error);
    p = TwoSidedStudentP(t, degrees);
  } else if (value != 0) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    t = value > 0 ? kInfinity : -kInfinity;
    p = 0;
  }
  c.set_t(t);
  c.set_p(p);
  const Real half = StudentQuantile975(degrees) * standard_error;
  c.set_lower(scaled(value - half));
  c.set_upper(scaled(value + half));
  return c;
}

double Aic(Real n, Real log_rss, Real jacobian) {
  constexpr Real kLog2Pi = 1.83787706640934548356L;
  return static_cast<double>(n * (log_rss - std::log(n)) + 2 * 3 + n * (1 + kLog2Pi) +
                             2 * jacobian);
}

// Fills `fit` from points that WhyUndefined found nothing against. `jacobian`: sum of ln y where
// ln y is the response, else 0.
void LeastSquares(const Values& xs, const Values& ys, Real jacobian,
                  std::span<const int64_t> samples, v1::Fit& fit) {
  const Axis x = MakeAxis(xs), y = MakeAxis(ys);
  const Real n = static_cast<Real>(xs.size());
  const Real products = SumOfProducts(x, y);
  const Real slope = products / x.squares;
  const Real rss = ResidualSquares(x, y, slope);
  const Real deviation = std::sqrt(rss / static_cast<Real>(xs.size() - 2));
  const std::optional<LineErrors> errors = ErrorsOf(x, y, slope, rss, samples);
  *fit.mutable_slope() =
      MakeCoefficient(slope, errors, &LineErrors::slope, y.exponent - x.exponent);
  *fit.mutable_intercept() =
      MakeCoefficient(y.mean - slope * x.mean, errors, &LineErrors::intercept, y.exponent);
  fit.set_r_squared(rss == 0 ? 1
                             : std::min(1.0, static_cast<double>(slope * (products / y.squares))));
  fit.set_residual_deviation(static_cast<double>(std::ldexp(deviation, y.exponent)));
  if (rss > 0) {
    fit.set_aic(Aic(n, std::log(rss) + 2 * y.exponent * std::log(Real{2}), jacobian));
  }
}

// From values that WhyUndefined found nothing against.
void Correlate(const Values& xs, const Values& ys, std::span<const int64_t> samples,
               v1::Correlation& result) {
  const Axis x = MakeAxis(xs), y = MakeAxis(ys);
  const Real products = SumOfProducts(x, y);
  const Real slope = products / x.squares;
  const Real rss = ResidualSquares(x, y, slope);
  const auto r = static_cast<double>(products / (std::sqrt(x.squares) * std::sqrt(y.squares)));
  result.set_value(rss == 0 ? std::copysign(1.0, r) : std::clamp(r, -1.0, 1.0));
  if (samples.empty()) {
    return result.set_p(
        CorrelationP(static_cast<double>(rss / y.squares), static_cast<double>(xs.size() - 2)));
  }
  const std::optional<LineErrors> errors = ErrorsOf(x, y, slope, rss, samples);
  if (errors) result.set_p(MakeCoefficient(slope, errors, &LineErrors::slope, 0).p());
}

// Of x and y; `of_ranks`: of their ranks.
v1::Correlation CorrelationOf(std::span<const double> x, std::span<const double> y,
                              std::span<const int64_t> samples, bool of_ranks) {
  v1::Correlation result;
  result.set_n(static_cast<int64_t>(x.size()));
  const std::string undefined = WhyUndefined(Widen(x), Widen(y));
  if (!undefined.empty()) {
    result.set_undefined(undefined);
  } else if (of_ranks) {
    Correlate(Widen(MidRanks(x)), Widen(MidRanks(y)), samples, result);
  } else {
    Correlate(Widen(x), Widen(y), samples, result);
  }
  return result;
}

}  // namespace

v1::Fit FitForm(v1::RegressionForm form, std::span<const RegressionPoint> points, Errors errors) {
  Values xs, ys;
  std::vector<int64_t> samples;
  Real jacobian = 0;
  int64_t left_out = 0;
  for (const RegressionPoint& point : points) {
    if ((LogX(form) && point.x <= 0) || (LogY(form) && point.y <= 0)) {
      ++left_out;
      continue;
    }
    xs.push_back(LogX(form) ? std::log(Real{point.x}) : Real{point.x});
    ys.push_back(LogY(form) ? std::log(Real{point.y}) : Real{point.y});
    if (LogY(form)) jacobian += ys.back();
    samples.push_back(point.sample);
  }
  v1::Fit fit;
  fit.set_form(form);
  fit.set_n(static_cast<int64_t>(xs.size()));
  fit.set_left_out(left_out);
  if (errors == Errors::kNaive) samples.clear();
  const std::string undefined = WhyUndefined(xs, ys);
  if (undefined.empty()) {
    LeastSquares(xs, ys, jacobian, samples, fit);
  } else {
    fit.set_undefined(undefined);
  }
  return fit;
}

v1::Correlation Pearson(std::span<const double> x, std::span<const double> y,
                        std::span<const int64_t> samples) {
  return CorrelationOf(x, y, samples, /*of_ranks=*/false);
}

v1::Correlation Spearman(std::span<const double> x, std::span<const double> y,
                         std::span<const int64_t> samples) {
  return CorrelationOf(x, y, samples, /*of_ranks=*/true);
}

v1::RegressionResult Regress(std::span<const RegressionPoint> points, Errors errors) {
  v1::RegressionResult result;
  for (const v1::RegressionForm form :
       {v1::REGRESSION_FORM_LINEAR_LOG, v1::REGRESSION_FORM_LOG_LINEAR, v1::REGRESSION_FORM_LOG_LOG,
        v1::REGRESSION_FORM_LINEAR}) {
    *result.add_fits() = FitForm(form, points, errors);
  }
  std::vector<double> xs, ys;
  std::vector<int64_t> samples;
  for (const RegressionPoint& point : points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
    if (errors != Errors::kNaive) samples.push_back(point.sample);
  }
  *result.mutable_pearson() = Pearson(xs, ys, samples);
  *result.mutable_spearman() = Spearman(xs, ys, samples);
  return result;
}

}  // namespace sinkd
