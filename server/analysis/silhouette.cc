#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "server/analysis/separation.h"
#include "server/analysis/separation_inputs.h"

namespace sinkd {
namespace {

// Several sums side by side, which the compiler can hold in vector registers.
double Distance(std::span<const float> a, std::span<const float> b) {
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> sums = {};
  const size_t whole = a.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double apart = double{a[i + lane]} - double{b[i + lane]};
      sums[lane] += apart * apart;
    }
  }
  for (size_t i = whole; i < a.size(); ++i) {
    const double apart = double{a[i]} - double{b[i]};
    sums[0] += apart * apart;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

// Labels as numbers from 0 on, and how many rows have each.
struct Groups {
  std::vector<size_t> of_row;
  std::vector<double> sizes;
};

Groups MakeGroups(std::span<const int32_t> labels) {
  Groups groups;
  std::map<int32_t, size_t> numbers;
  for (const int32_t label : labels) {
    const size_t group = numbers.try_emplace(label, numbers.size()).first->second;
    groups.of_row.push_back(group);
    groups.sizes.resize(numbers.size());
    ++groups.sizes[group];
  }
  return groups;
}

// [rows, groups] each row's sum of distances to the rows of a group.
std::vector<std::vector<double>> SumDistances(const Matrix& rows, const Groups& groups) {
  std::vector<std::vector<double>> sums(groups.of_row.size(),
                                        std::vector<double>(groups.sizes.size()));
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double distance =
          Distance(rows.Row(static_cast<int64_t>(i)), rows.Row(static_cast<int64_t>(j)));
      sums[i][groups.of_row[j]] += distance;
      sums[j][groups.of_row[i]] += distance;
    }
  }
  return sums;
}

double OfRow(const std::vector<double>& sums, size_t own, const Groups& groups) {
  if (groups.sizes[own] == 1) return 0;
  const double within = sums[own] / (groups.sizes[own] - 1);
  double beyond = std::numeric_limits<double>::infinity();
  for (size_t group = 0; group < sums.size(); ++group) {
    if (group != own) beyond = std::min(beyond, sums[group] / groups.sizes[group]);
  }
  const double larger = std::max(within, beyond);
  return larger == 0 ? 0 : (beyond - within) / larger;
}

}  // namespace

SeparationScore Silhouette(const Matrix& rows, std::span<const int32_t> labels) {
  std::string undefined = WhyNoScore(rows, labels);
  if (!undefined.empty()) return {.undefined = std::move(undefined)};
  const Groups groups = MakeGroups(labels);
  if (groups.sizes.size() < 2) return {.undefined = "fewer than two groups"};
  if (groups.sizes.size() == labels.size()) {
    return {.undefined = "every row is a group of its own"};
  }
  const std::vector<std::vector<double>> sums = SumDistances(rows, groups);
  double total = 0;
  for (size_t i = 0; i < sums.size(); ++i) total += OfRow(sums[i], groups.of_row[i], groups);
  return {.value = total / static_cast<double>(rows.rows), .undefined = {}};
}

}  // namespace sinkd
