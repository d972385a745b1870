// ExactSum: a sum without rounding until it is read, so that neither the order in which values
// arrive nor the way sums are merged changes a digit of it. This is what lets Summary promise the
// same report for any order and any split of its records.
//
// Kept as doubles that do not overlap, the smallest first (Shewchuk 1997, Adaptive Precision
// Floating-Point Arithmetic): a handful for values of like size, 40 at the very most.
// Exact as long as nothing over- or underflows. Thread-safety: plain value.
#pragma once

#include <vector>

namespace sinkd {

class ExactSum {
 public:
  void Add(double value);
  // Adds a*b without rounding the product first.
  void AddProduct(double a, double b);
  void Add(const ExactSum& other);
  // Adds factor * other.
  void AddScaled(double factor, const ExactSum& other);
  // The double nearest to the sum, to even where two are.
  double value() const;

 private:
  std::vector<double> parts_;
};

}  // namespace sinkd
