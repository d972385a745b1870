// Which tokens a record lists as outliers.
#include "server/analysis/outlier_tokens.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

v1::SampleRecord Filled(const Trace& trace, const std::vector<int32_t>& ids) {
  v1::SampleRecord record;
  FillOutlierTokens(trace, ids, record);
  return record;
}

TEST(OutlierTokensTest, ListsEachWithItsId) {
  const v1::SampleRecord record =
      Filled({.positions = 4, .outlier_ratio = {0, 70, 0, 64}}, {5, 6, 7, 8});
  const v1::OutlierTokens& outliers = record.outliers();
  EXPECT_EQ(outliers.count(), 2);
  ASSERT_EQ(outliers.largest_size(), 2);
  EXPECT_EQ(outliers.largest(0).position(), 1);
  EXPECT_EQ(outliers.largest(0).token_id(), 6);
  EXPECT_EQ(outliers.largest(0).ratio(), 70);
  EXPECT_EQ(outliers.largest(1).token_id(), 8);
}

TEST(OutlierTokensTest, CountsAllAndListsTheLargestInOrder) {
  Trace trace{.positions = 300};
  // 64 to 363, the largest first and last.
  for (int t = 0; t < 300; ++t) {
    trace.outlier_ratio.push_back(static_cast<float>(t < 50 ? 363 - t : 64 + (t - 50)));
  }
  const v1::SampleRecord record = Filled(trace, std::vector<int32_t>(300, 1));
  EXPECT_EQ(record.outliers().count(), 300);
  ASSERT_EQ(record.outliers().largest_size(), static_cast<int>(kMostOutliers));
  for (int i = 0; i < record.outliers().largest_size(); ++i) {
    EXPECT_EQ(record.outliers().largest(i).position(), i < 50 ? i : i + 200) << i;
  }
}

TEST(OutlierTokensTest, ATraceWithoutRatiosCountsNone) {
  EXPECT_FALSE(Filled({.positions = 1}, {1}).has_outliers());
}

}  // namespace
}  // namespace sinkd
