// The median of measurements.
#pragma once

#include <algorithm>
#include <vector>

// `values` is not empty; the upper one of two in the middle.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
