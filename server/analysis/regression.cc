#include "server/analysis/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "server/analysis/compensated_sum.h"
#include "server/analysis/distributions.h"

namespace sinkd {
namespace {

bool LogX(RegressionForm form) {
  return form == RegressionForm::kLinearLog || form == RegressionForm::kLogLog;
}
bool LogY(RegressionForm form) {
  return form == RegressionForm::kLogLinear || form == RegressionForm::kLogLog;
}

// One axis of the data. Everything is computed on values divided by 2^exponent, so that squares of
// very large or very small numbers neither overflow nor vanish; the division is exact.
struct Axis {
  int exponent = 0;
  std::vector<double> deviation;  // [n] (value - mean) / 2^exponent
  double mean = 0;                // / 2^exponent
  double squares = 0;             // sum of deviation^2
};

Axis MakeAxis(std::span<const double> values) {
  Axis axis;
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::fabs(value));
  }
  if (largest > 0) std::frexp(largest, &axis.exponent);
  CompensatedSum sum;
  for (const double value : values) {
    axis.deviation.push_back(std::ldexp(value, -axis.exponent));
    sum.Add(axis.deviation.back());
  }
  axis.mean = sum.value() / static_cast<double>(values.size());
  CompensatedSum squares;
  for (double& deviation : axis.deviation) {
    deviation -= axis.mean;
    squares.AddProduct(deviation, deviation);
  }
  axis.squares = squares.value();
  return axis;
}

double SumOfProducts(const Axis& x, const Axis& y) {
  CompensatedSum sum;
  for (size_t i = 0; i < x.deviation.size(); ++i) sum.AddProduct(x.deviation[i], y.deviation[i]);
  return sum.value();
}

// Residual sum of squares around slope (in scaled units). Residuals that are nothing but the
// rounding of the data and of the arithmetic count as zero: a perfect fit must be recognized as one
// whether or not its slope happens to be a binary fraction. The bound against y's own variance
// keeps data that differ by roundings alone from counting as a perfect fit.
double ResidualSquares(const Axis& x, const Axis& y, double slope) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  CompensatedSum squares, floor;
  for (size_t i = 0; i < x.deviation.size(); ++i) {
    const double residual = std::fma(-slope, x.deviation[i], y.deviation[i]);
    squares.AddProduct(residual, residual);
    const double scale = std::fabs(y.deviation[i]) + std::fabs(y.mean) +
                         std::fabs(slope) * (std::fabs(x.deviation[i]) + std::fabs(x.mean));
    floor.AddProduct(kRounding * scale, kRounding * scale);
  }
  const double bound = std::min(floor.value(), 1e-18 * y.squares);
  return squares.value() <= bound ? 0 : squares.value();
}

std::string WhyUndefined(std::span<const double> x, std::span<const double> y) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (x.size() != y.size()) return "x and y differ in length";
  if (x.size() < 3) return "fewer than 3 points";
  if (!std::all_of(x.begin(), x.end(), finite) || !std::all_of(y.begin(), y.end(), finite)) {
    return "a value is not finite";
  }
  const auto constant = [](std::span<const double> values) {
    return std::all_of(values.begin(), values.end(),
                       [&](double value) { return value == values[0]; });
  };
  if (constant(x)) return "zero variance in x";
  if (constant(y)) return "zero variance in y";
  return {};
}

Coefficient MakeCoefficient(double value, double standard_error, double degrees) {
  Coefficient c{.value = value, .standard_error = standard_error};
  if (standard_error > 0) {
    c.t = value / standard_error;
    c.p = TwoSidedStudentP(c.t, degrees);
  } else if (value != 0) {
    c.t = std::copysign(std::numeric_limits<double>::infinity(), value);
    c.p = 0;
  }
  const double half = StudentQuantile975(degrees) * standard_error;
  c.lower = value - half;
  c.upper = value + half;
  return c;
}

double Aic(double n, double log_rss, double jacobian) {
  constexpr double kPi = 3.14159265358979323846;
  return n * (log_rss - std::log(n)) + 2 * 3 + n * (1 + std::log(2 * kPi)) + 2 * jacobian;
}

// Fills `fit` from points that WhyUndefined found nothing against. `jacobian`: sum of ln y where
// ln y is the response, else 0.
void LeastSquares(std::span<const double> xs, std::span<const double> ys, double jacobian,
                  Fit& fit) {
  const Axis x = MakeAxis(xs), y = MakeAxis(ys);
  const double n = static_cast<double>(xs.size()), degrees = n - 2;
  const double products = SumOfProducts(x, y);
  const double slope = products / x.squares;
  const double rss = ResidualSquares(x, y, slope);
  const double deviation = std::sqrt(rss / degrees);
  const double intercept = std::fma(-slope, x.mean, y.mean);
  const double slope_error = deviation / std::sqrt(x.squares);
  const double intercept_error = slope_error * std::sqrt(x.squares / n + x.mean * x.mean);
  const int slope_exponent = y.exponent - x.exponent;
  fit.slope = MakeCoefficient(std::ldexp(slope, slope_exponent),
                              std::ldexp(slope_error, slope_exponent), degrees);
  fit.intercept = MakeCoefficient(std::ldexp(intercept, y.exponent),
                                  std::ldexp(intercept_error, y.exponent), degrees);
  fit.r_squared = rss == 0 ? 1 : std::min(1.0, slope * (products / y.squares));
  fit.residual_deviation = std::ldexp(deviation, y.exponent);
  if (rss > 0) {
    fit.aic = Aic(n, std::log(rss) + 2 * y.exponent * std::log(2.0), jacobian);
  }
}

// Mid-ranks: tied values share the mean of the ranks they cover.
std::vector<double> MidRanks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = (static_cast<double>(first + last) + 1) / 2;
    for (; first < last; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

Correlation Correlate(std::span<const double> xs, std::span<const double> ys) {
  Correlation result{.n = static_cast<int64_t>(xs.size())};
  result.undefined = WhyUndefined(xs, ys);
  if (!result.undefined.empty()) return result;
  const Axis x = MakeAxis(xs), y = MakeAxis(ys);
  const double products = SumOfProducts(x, y);
  const double rss = ResidualSquares(x, y, products / x.squares);
  const double r = products / (std::sqrt(x.squares) * std::sqrt(y.squares));
  result.value = rss == 0 ? std::copysign(1.0, r) : std::clamp(r, -1.0, 1.0);
  result.p = CorrelationP(rss / y.squares, static_cast<double>(xs.size()) - 2);
  return result;
}

}  // namespace

Fit FitForm(RegressionForm form, std::span<const RegressionPoint> points) {
  Fit fit{.form = form};
  std::vector<double> xs, ys;
  CompensatedSum jacobian;
  for (const RegressionPoint& point : points) {
    if ((LogX(form) && point.x <= 0) || (LogY(form) && point.y <= 0)) {
      ++fit.left_out;
      continue;
    }
    xs.push_back(LogX(form) ? std::log(point.x) : point.x);
    ys.push_back(LogY(form) ? std::log(point.y) : point.y);
    if (LogY(form)) jacobian.Add(ys.back());
  }
  fit.n = static_cast<int64_t>(xs.size());
  fit.undefined = WhyUndefined(xs, ys);
  if (fit.undefined.empty()) LeastSquares(xs, ys, jacobian.value(), fit);
  return fit;
}

Correlation Pearson(std::span<const double> x, std::span<const double> y) {
  return Correlate(x, y);
}

Correlation Spearman(std::span<const double> x, std::span<const double> y) {
  Correlation result{.n = static_cast<int64_t>(x.size())};
  result.undefined = WhyUndefined(x, y);
  return result.undefined.empty() ? Correlate(MidRanks(x), MidRanks(y)) : result;
}

RegressionResult Regress(std::span<const RegressionPoint> points) {
  RegressionResult result;
  for (const RegressionForm form : {RegressionForm::kLinearLog, RegressionForm::kLogLinear,
                                    RegressionForm::kLogLog, RegressionForm::kLinear}) {
    result.fits.push_back(FitForm(form, points));
  }
  std::vector<double> xs, ys;
  for (const RegressionPoint& point : points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  result.pearson = Pearson(xs, ys);
  result.spearman = Spearman(xs, ys);
  return result;
}

}  // namespace sinkd
