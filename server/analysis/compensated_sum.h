// CompensatedSum: a sum kept in two doubles (about 106 bits), so that the order in which values
// arrive and sums are merged changes the result by far less than one rounding to double. This is
// what lets Summary promise the same report for any order and any split of its records.
//
// Thread-safety: plain value.
#pragma once

namespace sinkd {

class CompensatedSum {
 public:
  void Add(double value);
  // Adds a*b without rounding the product first.
  void AddProduct(double a, double b);
  void Add(const CompensatedSum& other);
  // Adds factor * other.
  void AddScaled(double factor, const CompensatedSum& other);
  double value() const { return high_ + low_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace sinkd
