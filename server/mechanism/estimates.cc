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

v1::Estimate MeanOf::Result(std::string_view none) const {
  if (count_ == 0) return Undefined(none);
  v1::Estimate estimate;
  estimate.set_n(count_);
  if (!std::isfinite(mean_)) {
    estimate.set_undefined("a value is not finite");
    return estimate;
  }
  estimate.set_value(mean_);
  if (count_ < 2) return estimate;
  const auto n = static_cast<double>(count_);
  const double half = StudentQuantile975(n - 1) * std::sqrt(squares_ / (n - 1) / n);
  estimate.set_lower(mean_ - half);
  estimate.set_upper(mean_ + half);
  return estimate;
}

void ShareOf::Add(bool hit) {
  ++count_;
  hits_ += hit ? 1 : 0;
}

v1::Estimate ShareOf::Result(std::string_view none) const {
  if (count_ == 0) return Undefined(none);
  const auto n = static_cast<double>(count_);
  const double share = static_cast<double>(hits_) / n;
  v1::Estimate estimate;
  estimate.set_n(count_);
  estimate.set_value(share);
  if (count_ < 2) return estimate;
  const double square = kNormal975 * kNormal975;
  const double middle = (share + square / (2 * n)) / (1 + square / n);
  const double half =
      kNormal975 / (1 + square / n) * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  // At the ends the two terms cancel, but not to the last bit.
  estimate.set_lower(hits_ == 0 ? 0.0 : middle - half);
  estimate.set_upper(hits_ == count_ ? 1.0 : middle + half);
  return estimate;
}

void RatioOf::Add(double sum, double count) {
  if (count > 0) samples_.push_back({sum, count});
}

void RatioOf::Merge(const RatioOf& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
}

v1::Estimate RatioOf::Result(std::string_view none) const {
  if (samples_.empty()) return Undefined(none);
  double sum = 0, count = 0;
  for (const Sample& sample : samples_) {
    sum += sample.sum;
    count += sample.count;
  }
  v1::Estimate estimate;
  estimate.set_n(std::llround(count));
  const double ratio = sum / count;
  if (!std::isfinite(ratio)) {
    estimate.set_undefined("a value is not finite");
    return estimate;
  }
  estimate.set_value(ratio);
  const auto n = static_cast<double>(samples_.size());
  if (n < 2) return estimate;
  double squares = 0;
  for (const Sample& sample : samples_) {
    const double residual = sample.sum - ratio * sample.count;
    squares += residual * residual;
  }
  const double half = StudentQuantile975(n - 1) * std::sqrt(squares * n / (n - 1)) / count;
  estimate.set_lower(ratio - half);
  estimate.set_upper(ratio + half);
  return estimate;
}

v1::Estimate RatioOf::PositiveResult(std::string_view none) const {
  v1::Estimate estimate = Result(none);
  if (!estimate.has_lower() || estimate.value() <= 0) return estimate;
  const double half = (estimate.upper() - estimate.value()) / estimate.value();
  estimate.set_lower(estimate.value() * std::exp(-half));
  estimate.set_upper(estimate.value() * std::exp(half));
  return estimate;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

v1::Estimate Undefined(std::string_view reason) {
  v1::Estimate estimate;
  estimate.set_n(0);
  if (!reason.empty()) estimate.set_undefined(std::string(reason));
  return estimate;
}

}  // namespace sinkd
