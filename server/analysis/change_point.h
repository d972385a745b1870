// ChangePoint: where a series of numbers changes, as the division into two means that fits best
// (definitions: Change point).
//
// Formulas: least squares over the divisions; the confidence set of Siegmund (Confidence sets in
// change-point problems, 1988) by likelihood ratio, with the quantile of Eo and Morley
// (Likelihood-ratio-based confidence sets for the timing of structural breaks, 2015).
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sinkd {

// A division `k` has the first k values on its left: 0 < k < n.
struct ChangePoint {
  std::string undefined;  // the reason; all else is then 0
  size_t at = 0;          // the division with the least sum of squares, the first of equal ones
  size_t lowest = 0;      // of the divisions in the 95% confidence set
  size_t highest = 0;
  double mean_before = 0;
  double mean_after = 0;
  double p = 0;  // of no change, by kChangePermutations seeded permutations
};

inline constexpr size_t kLeastChangeValues = 5;
inline constexpr int kChangePermutations = 999;

// Of finite values in their order. Undefined: fewer than kLeastChangeValues values, or all equal.
// Takes kChangePermutations * n steps.
ChangePoint FindChangePoint(std::span<const double> values);

}  // namespace sinkd
