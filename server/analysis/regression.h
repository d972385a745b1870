// MLP norm against sink score and lifetime: least-squares fits in four forms, with correlations.
//
// x = ||mlp_out[l_start, k]||2, y = score or lifetime (definitions: MLP norm against score and
// lifetime). Distributions come from Boost.Math.
//
// Undefined results name one of: "fewer than 3 points", "zero variance in x", "zero variance in y",
// "a value is not finite", "x and y differ in length" - after leaving out what a logarithm cannot
// take, and looked for in that order (length, n, finite, x, y).
// A perfect fit (no residual beyond rounding) has RSS = 0: standard errors 0, an infinite t with p
// 0 for a coefficient that is not zero (t = 0, p = 1 for one that is), an interval of no width, R2
// = 1, no AIC; a perfect correlation is exactly 1 or -1 with p 0. The order of the points changes
// results by rounding only; Summary sorts them. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinkd {

enum class RegressionForm {
  kLinearLog,  // y = a + b ln x: the log-linear form, the headline
  kLogLinear,  // ln y = a + b x
  kLogLog,     // ln y = a + b ln x
  kLinear,     // y = a + b x
};

struct RegressionPoint {
  double x = 0;
  double y = 0;
};

struct Coefficient {
  double value = 0;
  double standard_error = 0;
  double t = 0;
  double p = 1;      // two-sided
  double lower = 0;  // 95% interval
  double upper = 0;
};

struct Fit {
  RegressionForm form = RegressionForm::kLinearLog;
  int64_t n = 0;          // points used
  int64_t left_out = 0;   // non-positive under a logarithm
  std::string undefined;  // the reason when the fit does not exist; all below is then zero
  Coefficient intercept;  // a
  Coefficient slope;      // b
  double r_squared = 0;
  double residual_deviation = 0;  // sqrt(RSS / (n - 2))
  // AIC on the scale of y: n ln(RSS/n) + 2*3 + n (1 + ln 2 pi), plus 2 sum ln y for the forms with
  // ln y as the response (the Jacobian term), so that forms over the same points compare. Empty
  // for a perfect fit (RSS = 0), whose logarithm does not exist.
  std::optional<double> aic;
};

struct Correlation {
  int64_t n = 0;
  std::string undefined;
  double value = 0;
  double p = 1;  // two-sided, t approximation with n - 2 degrees of freedom (as scipy)
};

struct RegressionResult {
  std::vector<Fit> fits;  // one per form, in the order of RegressionForm
  Correlation pearson;
  Correlation spearman;  // mid-ranks for ties
};

RegressionResult Regress(std::span<const RegressionPoint> points);
Fit FitForm(RegressionForm form, std::span<const RegressionPoint> points);
Correlation Pearson(std::span<const double> x, std::span<const double> y);
Correlation Spearman(std::span<const double> x, std::span<const double> y);

}  // namespace sinkd
