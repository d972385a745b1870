// Means, shares and ratios with their intervals. Values are not kept; a ratio keeps two numbers for
// each sample.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

namespace v1 = ::sinks::v1;

class MeanOf {
 public:
  void Add(double value);
  int64_t count() const { return count_; }
  double mean() const { return mean_; }

  // Student's 95% interval from two values on. Undefined without values, for the reason given, and
  // when a value is not finite.
  v1::Estimate Result(std::string_view none) const;

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean, by Welford's update
};

class ShareOf {
 public:
  void Add(bool hit);

  // Wilson's 95% interval from two values on; undefined without values, for the reason given.
  v1::Estimate Result(std::string_view none) const;

 private:
  int64_t count_ = 0;
  int64_t hits_ = 0;
};

// A ratio of sums whose terms depend on each other within a sample. Definitions: Ablations.
class RatioOf {
 public:
  // Of one sample: the sum of `count` values. A sample without any adds nothing.
  void Add(double sum, double count);

  // Adds the samples of `other`.
  void Merge(const RatioOf& other);

  // A cluster-robust 95% interval from two samples on; n is the number of values. Undefined without
  // values, for the reason given, and when a value is not finite.
  v1::Estimate Result(std::string_view none) const;

  // The same of a ratio that cannot be negative: the interval is that of its logarithm (delta
  // method), so that neither can its ends.
  v1::Estimate PositiveResult(std::string_view none) const;

 private:
  struct Sample {
    double sum = 0;
    double count = 0;
  };
  std::vector<Sample> samples_;
};

// As numpy: the mean of the two middle values when their number is even. Of at least one value.
double Median(std::vector<double> values);

// An estimate that says only why it has no value.
v1::Estimate Undefined(std::string_view reason);

}  // namespace sinkd
