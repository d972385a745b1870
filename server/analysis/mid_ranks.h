// Ranks from 1 of values, smallest first; tied values share the mean of the ranks they cover.
// Thread-safety: a pure function.
#pragma once

#include <span>
#include <vector>

namespace sinkd {

// `values` without NaN.
std::vector<double> MidRanks(std::span<const double> values);

}  // namespace sinkd
