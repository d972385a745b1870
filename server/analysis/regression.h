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
//
// Standard errors by sample are the cluster-robust sandwich with the correction
// G / (G - 1) * (n - 1) / (n - 2) for G samples (CR1: Cameron and Miller 2015, A Practitioner's
// Guide to Cluster-Robust Inference, doi 10.3368/jhr.50.2.317), with Student's t of G - 1 degrees
// of freedom; of fewer than two samples there are none. Naive ones take points as independent, with
// n - 2 degrees of freedom.
#pragma once

#include <cstdint>
#include <span>

#include "sinks/v1/records.pb.h"

namespace sinkd {

namespace v1 = ::sinks::v1;

// One sink of a regression, of which there may be millions.
struct RegressionPoint {
  double x = 0;
  double y = 0;
  int64_t sample = 0;  // which sample it is from, counted from 0
};

enum class Errors { kBySample, kNaive };

v1::RegressionResult Regress(std::span<const RegressionPoint> points, Errors errors);
// AIC is on the scale of y: n ln(RSS/n) + 2*3 + n (1 + ln 2 pi), plus 2 sum ln y for the forms with
// ln y as the response (the Jacobian term), so that forms over the same points compare. Absent for
// a perfect fit (RSS = 0), whose logarithm does not exist.
v1::Fit FitForm(v1::RegressionForm form, std::span<const RegressionPoint> points, Errors errors);
// Of values, or of their mid-ranks. p is that of the slope of y on x; naive without `samples`,
// which says which sample a pair is from.
v1::Correlation Pearson(std::span<const double> x, std::span<const double> y,
                        std::span<const int64_t> samples = {});
v1::Correlation Spearman(std::span<const double> x, std::span<const double> y,
                         std::span<const int64_t> samples = {});

}  // namespace sinkd
