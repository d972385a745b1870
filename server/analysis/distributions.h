// The distributions that the analyses need, from Boost.Math, which is included nowhere else.
//
// Thread-safety: pure functions. None throws: outside their domain they give NaN.
#pragma once

namespace sinkd {

// P(|t| > |value|) of Student's t. `degrees` > 0. 0 for an infinite value.
double TwoSidedStudentP(double value, double degrees);

// The t that 97.5% of Student's t lie under: half the width of a 95% interval in standard errors.
double StudentQuantile975(double degrees);

// Two-sided p of a correlation coefficient r over n = degrees + 2 pairs, from 1 - r^2, which the
// caller knows more exactly than r itself where r is near 1. Equals the t approximation with
// `degrees` degrees of freedom.
double CorrelationP(double one_minus_r_squared, double degrees);

}  // namespace sinkd
