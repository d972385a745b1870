// Which tokens a record lists as outliers.
#include "server/analysis/outlier_tokens.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(OutlierTokensTest, ListsEachWithItsId) {
  const Trace trace{.positions = 4, .outlier_ratio = {0, 70, 0, 64}};
  const auto outliers = FindOutlierTokens(trace, std::vector<int32_t>{5, 6, 7, 8});
  ASSERT_TRUE(outliers.has_value());
  EXPECT_EQ(outliers->count, 2);
  ASSERT_EQ(outliers->largest.size(), 2u);
  EXPECT_EQ(outliers->largest[0].position, 1);
  EXPECT_EQ(outliers->largest[0].token_id, 6);
  EXPECT_EQ(outliers->largest[0].ratio, 70);
  EXPECT_EQ(outliers->largest[1].token_id, 8);
}

TEST(OutlierTokensTest, CountsAllAndListsTheLargestInOrder) {
  Trace trace{.positions = 300};
  // 64 to 363, the largest first and last.
  for (int t = 0; t < 300; ++t) {
    trace.outlier_ratio.push_back(static_cast<float>(t < 50 ? 363 - t : 64 + (t - 50)));
  }
  const auto outliers = FindOutlierTokens(trace, std::vector<int32_t>(300, 1));
  ASSERT_TRUE(outliers.has_value());
  EXPECT_EQ(outliers->count, 300);
  ASSERT_EQ(outliers->largest.size(), kMostOutliers);
  for (size_t i = 0; i < kMostOutliers; ++i) {
    EXPECT_EQ(outliers->largest[i].position, i < 50 ? i : i + 200) << i;
  }
}

TEST(OutlierTokensTest, ATraceWithoutRatiosCountsNone) {
  EXPECT_FALSE(FindOutlierTokens({.positions = 1}, std::vector<int32_t>{1}).has_value());
}

}  // namespace
}  // namespace sinkd
