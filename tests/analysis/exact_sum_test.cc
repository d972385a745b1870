// Against the sums that CPython's tests of math.fsum list (Lib/test/test_math.py).
#include "server/analysis/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sinkd {
namespace {

struct Case {
  std::vector<double> values;
  double sum;
};

std::vector<Case> Cases() {
  const double big = std::ldexp(1, 53);
  std::vector<Case> cases = {
      {{}, 0},
      {{0}, 0},
      {{1e100, 1, -1e100, 1e-100, 1e50, -1, -1e50}, 1e-100},
      {{big, -0.5, -std::ldexp(1, -54)}, big - 1},
      {{big, 1, std::ldexp(1, -100)}, big + 2},
      {{big + 10, 1, std::ldexp(1, -100)}, big + 12},
      {{big - 4, 0.5, std::ldexp(1, -54)}, big - 3},
      {{1e16, 1, 1e-16}, 10000000000000002},
      {{1e16 - 2, 1 - std::ldexp(1, -53), -(1e16 - 2), -(1 - std::ldexp(1, -53))}, 0},
  };
  Case harmonic{{}, 0x1.df11f45f4e61ap+2};
  Case alternating{{}, -0x1.62a2af1bd3624p-1};
  for (int n = 1; n <= 1000; ++n) {
    harmonic.values.push_back(1.0 / n);
    alternating.values.push_back((n % 2 == 0 ? 1.0 : -1.0) / n);
  }
  cases.push_back(harmonic);
  cases.push_back(alternating);
  return cases;
}

TEST(ExactSum, IsTheNearestDoubleInEveryOrder) {
  std::mt19937_64 random(1);
  for (Case& each : Cases()) {
    for (int i = 0; i < 50; ++i) {
      ExactSum sum;
      for (const double value : each.values) sum.Add(value);
      EXPECT_EQ(sum.value(), each.sum);
      std::shuffle(each.values.begin(), each.values.end(), random);
    }
  }
}

TEST(ExactSum, OfPartsIsThatOfTheWhole) {
  std::mt19937_64 random(2);
  for (const Case& each : Cases()) {
    for (int i = 0; i < 50; ++i) {
      std::vector<ExactSum> parts(3);
      for (const double value : each.values) parts[random() % parts.size()].Add(value);
      for (const ExactSum& part : {parts[1], parts[2]}) parts[0].Add(part);
      EXPECT_EQ(parts[0].value(), each.sum);
      parts[0].AddScaled(-1, ExactSum(parts[0]));
      EXPECT_EQ(parts[0].value(), 0);
    }
  }
}

TEST(ExactSum, OfProductsDoesNotRoundThem) {
  const double value = 1 + std::ldexp(1, -30);  // its square needs 61 bits
  ExactSum sum;
  sum.AddProduct(value, value);
  sum.Add(-1);
  sum.Add(-std::ldexp(1, -29));
  EXPECT_EQ(sum.value(), std::ldexp(1, -60));
}

}  // namespace
}  // namespace sinkd
