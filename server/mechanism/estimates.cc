#include "server/mechanism/estimates.h"

#include <algorithm>
#include <cmath>

#include "server/analysis/distributions.h"

namespace sinkd {
namespace {

// The normal deviate of a 95% interval.
constexpr double kNormal975 = 1.959963984540054;

}  // namespace

void MeanOf::Add(double value) {
  ++count_;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (value - mean_);
}

Estimate MeanOf::Result(std::string_view none) const {
  if (count_ == 0) return Undefined(none);
  if (!std::isfinite(mean_)) return {.n = count_, .undefined = "a value is not finite"};
  Estimate estimate{.value = mean_, .n = count_};
  if (count_ < 2) return estimate;
  const auto n = static_cast<double>(count_);
  const double half = StudentQuantile975(n - 1) * std::sqrt(squares_ / (n - 1) / n);
  estimate.lower = mean_ - half;
  estimate.upper = mean_ + half;
  return estimate;
}

void ShareOf::Add(bool hit) {
  ++count_;
  hits_ += hit ? 1 : 0;
}

Estimate ShareOf::Result(std::string_view none) const {
  if (count_ == 0) return Undefined(none);
  const auto n = static_cast<double>(count_);
  const double share = static_cast<double>(hits_) / n;
  Estimate estimate{.value = share, .n = count_};
  if (count_ < 2) return estimate;
  const double square = kNormal975 * kNormal975;
  const double middle = (share + square / (2 * n)) / (1 + square / n);
  const double half =
      kNormal975 / (1 + square / n) * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  // At the ends the two terms cancel, but not to the last bit.
  estimate.lower = hits_ == 0 ? 0.0 : middle - half;
  estimate.upper = hits_ == count_ ? 1.0 : middle + half;
  return estimate;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Estimate Undefined(std::string_view reason) {
  return {.undefined = std::string(reason)};
}

}  // namespace sinkd
