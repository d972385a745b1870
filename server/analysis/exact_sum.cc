#include "server/analysis/exact_sum.h"

#include <cmath>
#include <tuple>
#include <utility>

namespace sinkd {
namespace {

// a + b, and what rounding took from it.
std::pair<double, double> TwoSum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

}  // namespace

void ExactSum::Add(double value) {
  size_t kept = 0;
  for (const double part : parts_) {
    const auto [sum, error] = TwoSum(value, part);
    if (error != 0) parts_[kept++] = error;
    value = sum;
  }
  parts_.resize(kept);
  parts_.push_back(value);
}

void ExactSum::AddProduct(double a, double b) {
  const double product = a * b;
  Add(product);
  Add(std::fma(a, b, -product));
}

void ExactSum::Add(const ExactSum& other) {
  const std::vector<double> parts = other.parts_;  // it may be this one
  for (const double part : parts) Add(part);
}

void ExactSum::AddScaled(double factor, const ExactSum& other) {
  const std::vector<double> parts = other.parts_;
  for (const double part : parts) AddProduct(factor, part);
}

double ExactSum::value() const {
  if (parts_.empty()) return 0;
  size_t rest = parts_.size() - 1;
  double high = parts_[rest];
  double error = 0;
  while (rest > 0 && error == 0) std::tie(high, error) = TwoSum(high, parts_[--rest]);
  // Half way between two doubles, the sign of what is left below decides.
  if (rest == 0 || error == 0 || std::signbit(error) != std::signbit(parts_[rest - 1])) return high;
  const double other = high + 2 * error;
  return other - high == 2 * error ? other : high;
}

}  // namespace sinkd
