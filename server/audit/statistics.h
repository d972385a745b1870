// The statistics with which audits compare two sets, and the correction for multiple tests.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinkd {

// Jensen-Shannon divergence of two distributions, given by counts of the same categories, in bits:
// 0 for equal shares, 1 for no common category. 0 if one of the sets is empty.
double JensenShannon(std::span<const int64_t> a, std::span<const int64_t> b);

// Pearson's statistic of the 2 x k table of counts: sum of (found - expected)^2 / expected over
// non-empty categories. 0 if one of the sets is empty.
double ChiSquare(std::span<const int64_t> a, std::span<const int64_t> b);

// Kolmogorov-Smirnov statistic: the largest distance between two empirical distribution functions.
// `sorted` is ascending; `sides[i]` is 0 or 1. 0 if one of the sets is empty.
double KolmogorovSmirnov(std::span<const double> sorted, std::span<const uint8_t> sides);

// Holm's (1979) step-down correction of p values for multiple tests.
std::vector<double> HolmAdjusted(std::span<const double> p);

}  // namespace sinkd
