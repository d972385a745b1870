#include "server/analysis/exact_means.h"

namespace sinkd {

void ExactMeans::Add(std::span<const float> values) {
  if (values.empty()) return;
  ++samples_;
  sums_.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) sums_[i].Add(static_cast<double>(values[i]));
}

void ExactMeans::Merge(const ExactMeans& other) {
  if (other.samples_ == 0) return;
  samples_ += other.samples_;
  sums_.resize(other.sums_.size());
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i].Add(other.sums_[i]);
}

std::vector<double> ExactMeans::Means() const {
  std::vector<double> means;
  for (const ExactSum& sum : sums_) means.push_back(sum.value() / static_cast<double>(samples_));
  return means;
}

}  // namespace sinkd
