#include "server/analysis/compensated_sum.h"

#include <cmath>

namespace sinkd {

// Knuth's two-sum: the rounding error of high_ + value is itself a double. Renormalized after every
// step, so that low_ never outgrows high_.
void CompensatedSum::Add(double value) {
  const double sum = high_ + value;
  const double part = sum - high_;
  const double error = (high_ - (sum - part)) + (value - part);
  const double low = low_ + error;
  high_ = sum + low;
  low_ = low - (high_ - sum);
}

void CompensatedSum::AddProduct(double a, double b) {
  const double product = a * b;
  Add(product);
  Add(std::fma(a, b, -product));
}

void CompensatedSum::Add(const CompensatedSum& other) {
  const double high = other.high_, low = other.low_;
  Add(high);
  Add(low);
}

void CompensatedSum::AddScaled(double factor, const CompensatedSum& other) {
  const double high = other.high_, low = other.low_;
  AddProduct(factor, high);
  AddProduct(factor, low);
}

}  // namespace sinkd
