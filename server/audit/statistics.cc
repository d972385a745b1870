#include "server/audit/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinkd {
namespace {

double Total(std::span<const int64_t> counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
}

// p log2(p / q), 0 for p = 0.
double Part(double p, double q) {
  return p > 0 ? p * std::log2(p / q) : 0;
}

}  // namespace

double JensenShannon(std::span<const int64_t> a, std::span<const int64_t> b) {
  const double total_a = Total(a);
  const double total_b = Total(b);
  if (total_a == 0 || total_b == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double p = static_cast<double>(a[i]) / total_a;
    const double q = static_cast<double>(b[i]) / total_b;
    sum += Part(p, (p + q) / 2) + Part(q, (p + q) / 2);
  }
  return std::clamp(sum / 2, 0.0, 1.0);
}

double ChiSquare(std::span<const int64_t> a, std::span<const int64_t> b) {
  const double total_a = Total(a);
  const double total_b = Total(b);
  if (total_a == 0 || total_b == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double both = static_cast<double>(a[i] + b[i]);
    if (both == 0) continue;
    const double expected_a = both * (total_a / (total_a + total_b));
    const double expected_b = both - expected_a;
    const double off = static_cast<double>(a[i]) - expected_a;  // of b, with the other sign
    sum += off * off / expected_a + off * off / expected_b;
  }
  return sum;
}

double KolmogorovSmirnov(std::span<const double> sorted, std::span<const uint8_t> sides) {
  const double ones = static_cast<double>(std::count(sides.begin(), sides.end(), uint8_t{1}));
  const double zeros = static_cast<double>(sides.size()) - ones;
  if (ones == 0 || zeros == 0) return 0;
  int64_t seen[2] = {0, 0};
  double largest = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    ++seen[sides[i]];
    if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) continue;
    const double distance =
        static_cast<double>(seen[0]) / zeros - static_cast<double>(seen[1]) / ones;
    largest = std::max(largest, std::fabs(distance));
  }
  return largest;
}

std::vector<double> HolmAdjusted(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&p](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(p.size() - i) * p[order[i]]);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace sinkd
