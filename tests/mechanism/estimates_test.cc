#include "server/mechanism/estimates.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// Expected intervals: scipy 1.15, stats.t.ppf and binomtest(...).proportion_ci(0.95, "wilson").

TEST(MeanOf, HasStudentsInterval) {
  MeanOf mean;
  for (const double value : {1.0, 2.0, 4.0, 9.0}) mean.Add(value);
  const v1::Estimate estimate = mean.Result("none");
  EXPECT_EQ(estimate.n(), 4);
  EXPECT_NEAR(*ValueOf(estimate), 4.0, 1e-12);
  EXPECT_NEAR(estimate.lower(), -1.6632047057346666, 1e-9);
  EXPECT_NEAR(estimate.upper(), 9.663204705734667, 1e-9);
  EXPECT_TRUE(estimate.undefined().empty());
}

TEST(MeanOf, LosesNothingFarFromZero) {
  MeanOf mean;
  for (const double value : {1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 9}) mean.Add(value);
  const v1::Estimate estimate = mean.Result("none");
  EXPECT_NEAR(estimate.upper() - *ValueOf(estimate), 9.663204705734667 - 4, 1e-5);
}

TEST(MeanOf, HasNoIntervalUnderTwoValuesAndAReasonWithoutOne) {
  MeanOf mean;
  EXPECT_EQ(mean.Result("no targets").undefined(), "no targets");
  EXPECT_FALSE(mean.Result("no targets").has_value());
  mean.Add(3);
  EXPECT_EQ(ValueOf(mean.Result("no targets")), 3);
  EXPECT_FALSE(mean.Result("no targets").has_lower());
}

TEST(MeanOf, IsUndefinedWhenAValueIsNotFinite) {
  MeanOf mean;
  mean.Add(1);
  mean.Add(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(mean.Result("").has_value());
  EXPECT_EQ(mean.Result("").undefined(), "a value is not finite");
  EXPECT_EQ(mean.Result("").n(), 2);
}

ShareOf Share(int hits, int misses) {
  ShareOf share;
  for (int i = 0; i < hits; ++i) share.Add(true);
  for (int i = 0; i < misses; ++i) share.Add(false);
  return share;
}

TEST(ShareOf, HasWilsonsInterval) {
  const v1::Estimate estimate = Share(8, 2).Result("none");
  EXPECT_DOUBLE_EQ(*ValueOf(estimate), 0.8);
  EXPECT_NEAR(estimate.lower(), 0.4901624715366418, 1e-12);
  EXPECT_NEAR(estimate.upper(), 0.9433178485456248, 1e-12);
}

TEST(ShareOf, EndsAtExactlyZeroAndOne) {
  EXPECT_NEAR(Share(3, 0).Result("none").lower(), 0.4385029682449546, 1e-12);
  for (int n = 2; n <= 200; ++n) {
    EXPECT_EQ(Share(n, 0).Result("none").upper(), 1) << n;
    ASSERT_TRUE(Share(0, n).Result("none").has_lower());
    EXPECT_EQ(Share(0, n).Result("none").lower(), 0) << n;
  }
}

TEST(ShareOf, HasNoIntervalUnderTwoValues) {
  EXPECT_EQ(Share(0, 0).Result("no sinks").undefined(), "no sinks");
  EXPECT_EQ(ValueOf(Share(1, 0).Result("")), 1);
  EXPECT_FALSE(Share(1, 0).Result("").has_upper());
}

// Expected: numpy's sandwich with clusters and G / (G - 1) for the mean of the 0s and 1s by which
// samples have 3 of 4, 0 of 2, 5 of 7 and 0 of 1; scipy's t.ppf(0.975, 3).
TEST(RatioOf, HasAClusterRobustInterval) {
  RatioOf ratio;
  for (const auto& [sum, count] : {std::pair{3, 4}, {0, 2}, {5, 7}, {0, 0}, {0, 1}}) {
    ratio.Add(sum, count);
  }
  const v1::Estimate estimate = ratio.Result("none");
  EXPECT_EQ(estimate.n(), 14);
  EXPECT_NEAR(*ValueOf(estimate), 0.5714285714285715, 1e-12);
  EXPECT_NEAR(estimate.lower(), 0.106094622677321, 1e-9);
  EXPECT_NEAR(estimate.upper(), 1.036762520179822, 1e-9);
}

// Expected: exp(log(m) -+ t.ppf(0.975, 3) * se / m) of numpy's sandwich, samples of sums 3, 1, 5,
// 0.5 and counts 4, 2, 7, 1.
TEST(RatioOf, HasAPositiveIntervalWhereItCannotBeNegative) {
  RatioOf ratio;
  for (const auto& [sum, count] : {std::pair{3.0, 4}, {1.0, 2}, {5.0, 7}, {0.5, 1}}) {
    ratio.Add(sum, count);
  }
  const v1::Estimate estimate = ratio.PositiveResult("none");
  EXPECT_NEAR(*ValueOf(estimate), 0.6785714285714286, 1e-12);
  EXPECT_NEAR(estimate.lower(), 0.5483223398533495, 1e-9);
  EXPECT_NEAR(estimate.upper(), 0.8397600283742233, 1e-9);
  RatioOf wide;
  wide.Add(0.1, 1);
  wide.Add(2.5, 1);
  EXPECT_LT(wide.Result("").lower(), 0);
  EXPECT_GT(wide.PositiveResult("").lower(), 0);
}

TEST(RatioOf, IsStudentsWhereEachSampleHasOneValue) {
  MeanOf mean;
  RatioOf ratio;
  for (const double value : {1.0, 2.0, 4.0, 9.0}) {
    mean.Add(value);
    ratio.Add(value, 1);
  }
  EXPECT_NEAR(ratio.Result("").lower(), mean.Result("").lower(), 1e-12);
  EXPECT_NEAR(ratio.Result("").upper(), mean.Result("").upper(), 1e-12);
}

TEST(RatioOf, HasNoIntervalUnderTwoSamplesAndAReasonWithoutOne) {
  RatioOf ratio;
  ratio.Add(0, 0);
  EXPECT_EQ(ratio.Result("no sinks").undefined(), "no sinks");
  ratio.Add(2, 3);
  EXPECT_NEAR(*ValueOf(ratio.Result("")), 2.0 / 3, 1e-12);
  EXPECT_FALSE(ratio.Result("").has_lower());
  ratio.Add(std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_EQ(ratio.Result("").undefined(), "a value is not finite");
}

TEST(Median, IsTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(Median({5, 1, 4, 2}), 3);
  EXPECT_EQ(Median({5, 1, 4}), 4);
  EXPECT_EQ(Median({7}), 7);
}

}  // namespace
}  // namespace sinkd
