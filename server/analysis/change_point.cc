#include "server/analysis/change_point.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "server/base/seeded_draws.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// P(LR <= x) = (1 - exp(-x / 2))^2 in the limit; this x gives 0.95.
const double kCriticalRatio = -2 * std::log1p(-std::sqrt(0.95));
constexpr uint64_t kSeed = 0;
// Permutations that divide the series as the observed one does differ from it by rounding only.
constexpr double kRounding = 1e-9;

// [n + 1] sums of squares of the first k values about their mean, by Welford's recurrence.
std::vector<double> SquaresOfFirst(auto values) {
  std::vector<double> squares = {0};
  double mean = 0;
  for (const double value : values) {
    const double from_old = value - mean;
    mean += from_old / static_cast<double>(squares.size());
    squares.push_back(squares.back() + from_old * (value - mean));
  }
  return squares;
}

// [n - 1] the sum of squares about both means, of the divisions 1 to n - 1.
std::vector<double> SquaresOfDivisions(std::span<const double> values) {
  const std::vector<double> left = SquaresOfFirst(values);
  const std::vector<double> right =
      SquaresOfFirst(std::vector<double>(values.rbegin(), values.rend()));
  std::vector<double> squares;
  for (size_t k = 1; k < values.size(); ++k) {
    squares.push_back(left[k] + right[values.size() - k]);
  }
  return squares;
}

// The most that a division explains of the sum of squares of values whose mean is 0.
double MostExplained(std::span<const double> centred) {
  const auto n = static_cast<double>(centred.size());
  double sum = 0;
  double most = 0;
  for (size_t k = 1; k < centred.size(); ++k) {
    sum += centred[k - 1];
    const auto left = static_cast<double>(k);
    most = std::max(most, sum * sum * n / (left * (n - left)));
  }
  return most;
}

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double PermutationP(std::span<const double> values) {
  std::vector<double> centred(values.begin(), values.end());
  const double mean = Mean(values);
  for (double& value : centred) value -= mean;
  const double observed = MostExplained(centred) * (1 - kRounding);
  SeededDraws draws(kSeed);
  int as_far = 1;  // the series itself
  for (int i = 0; i < kChangePermutations; ++i) {
    for (size_t left = centred.size(); left > 1; --left) {
      std::swap(centred[left - 1], centred[draws.Index(left)]);
    }
    if (MostExplained(centred) >= observed) ++as_far;
  }
  return as_far / (kChangePermutations + 1.0);
}

}  // namespace

ChangePoint FindChangePoint(std::span<const double> values) {
  if (values.size() < kLeastChangeValues) {
    return {.undefined = StrCat("needs at least ", kLeastChangeValues, " values; there are ",
                                values.size())};
  }
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  if (*least == *largest) return {.undefined = "all values are equal"};
  const std::vector<double> squares = SquaresOfDivisions(values);
  const auto best = std::min_element(squares.begin(), squares.end());
  const auto in_set = [&](double each) {
    return each <= *best ||
           static_cast<double>(values.size()) * std::log(each / *best) <= kCriticalRatio;
  };
  const auto first = std::find_if(squares.begin(), squares.end(), in_set);
  const auto last = std::find_if(squares.rbegin(), squares.rend(), in_set);
  ChangePoint found;
  found.at = static_cast<size_t>(best - squares.begin()) + 1;
  found.lowest = static_cast<size_t>(first - squares.begin()) + 1;
  found.highest = static_cast<size_t>(squares.rend() - last);
  found.mean_before = Mean(values.first(found.at));
  found.mean_after = Mean(values.subspan(found.at));
  found.p = PermutationP(values);
  return found;
}

}  // namespace sinkd
