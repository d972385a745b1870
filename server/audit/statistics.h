// The statistics that audits compare two sets with, and the correction for asking several times.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinkd {

// Jensen and Shannon's divergence of two distributions given by counts of the same categories, in
// bits: 0 for equal shares, 1 for none in common. 0 when one of the sets is empty.
double JensenShannon(std::span<const int64_t> a, std::span<const int64_t> b);

// Pearson's statistic of the 2 x k table of counts: sum of (found - expected)^2 / expected over
// categories that hold any. 0 when one of the sets is empty.
double ChiSquare(std::span<const int64_t> a, std::span<const int64_t> b);

// Kolmogorov and Smirnov's: the largest distance between two empirical distribution functions.
// `sorted` ascends, `sides[i]` is 0 or 1. 0 when one of the sets is empty.
double KolmogorovSmirnov(std::span<const double> sorted, std::span<const uint8_t> sides);

// Holm's (1979) step-down correction: p of each test made good for asking all of them.
std::vector<double> HolmAdjusted(std::span<const double> p);

}  // namespace sinkd
