// ExactMeans: the means over samples of vectors of one length, whose sums are exact, so that they
// do not depend on the order of samples.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/analysis/exact_sum.h"

namespace sinkd {

class ExactMeans {
 public:
  // An empty vector is that of a sample without values, and does not count.
  void Add(std::span<const float> values);
  void Merge(const ExactMeans& other);

  int64_t samples() const { return samples_; }
  size_t size() const { return sums_.size(); }  // 0 until the first sample
  std::vector<double> Means() const;

 private:
  int64_t samples_ = 0;
  std::vector<ExactSum> sums_;
};

}  // namespace sinkd
