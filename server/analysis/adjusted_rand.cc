#include <map>
#include <utility>

#include "server/analysis/separation.h"

namespace sinkd {
namespace {

double Pairs(double count) {
  return count * (count - 1) / 2;
}

template <typename Counts>
double PairsWithin(const Counts& counts) {
  double pairs = 0;
  for (const auto& [label, count] : counts) pairs += Pairs(count);
  return pairs;
}

}  // namespace

SeparationScore AdjustedRand(std::span<const int32_t> a, std::span<const int32_t> b) {
  if (a.size() != b.size()) return {.undefined = "labels and rows differ in number"};
  std::map<int32_t, double> of_a, of_b;
  std::map<std::pair<int32_t, int32_t>, double> of_both;
  for (size_t i = 0; i < a.size(); ++i) {
    ++of_a[a[i]];
    ++of_b[b[i]];
    ++of_both[{a[i], b[i]}];
  }
  const double in_a = PairsWithin(of_a), in_b = PairsWithin(of_b), in_both = PairsWithin(of_both);
  const double all = Pairs(static_cast<double>(a.size()));
  const double most = (in_a + in_b) / 2;
  const double expected = all == 0 ? 0 : in_a * in_b / all;
  // Only where both tell nothing apart, or both everything.
  if (most == expected) return {.value = 1, .undefined = {}};
  return {.value = (in_both - expected) / (most - expected), .undefined = {}};
}

}  // namespace sinkd
