#include "server/access/rate_bucket.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RateBucket::TimePoint kStart{std::chrono::hours(1)};

TEST(RateBucket, GivesAMinutesWorthAtOnceAndThenSaysWhenToComeAgain) {
  RateBucket bucket;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(bucket.Take(1, 6, kStart), std::nullopt) << i;
  EXPECT_EQ(bucket.Take(1, 6, kStart), seconds(10));
  EXPECT_EQ(bucket.Take(1, 6, kStart + seconds(4)), seconds(6));
  EXPECT_EQ(bucket.Take(1, 6, kStart + seconds(10)), std::nullopt);
  EXPECT_EQ(bucket.Take(1, 6, kStart + seconds(10)), seconds(10));
}

TEST(RateBucket, HoldsNoMoreThanAMinutesWorthHoweverLongItWaits) {
  RateBucket bucket;
  EXPECT_EQ(bucket.Take(2, 2, kStart), std::nullopt);
  const auto later = kStart + std::chrono::hours(5);
  EXPECT_EQ(bucket.Take(1, 2, later), std::nullopt);
  EXPECT_EQ(bucket.Take(1, 2, later), std::nullopt);
  EXPECT_NE(bucket.Take(1, 2, later), std::nullopt);
}

TEST(RateBucket, GivesWhatIsMoreThanAMinutesWorthAndWaitsUntilItIsPaidBack) {
  RateBucket bucket;
  EXPECT_EQ(bucket.Take(180, 60, kStart), std::nullopt);
  // 120 are owed, and one must be there: 121 seconds at one a second.
  EXPECT_EQ(bucket.Take(1, 60, kStart), seconds(121));
  EXPECT_EQ(bucket.Take(1, 60, kStart + seconds(120)), seconds(1));
  EXPECT_EQ(bucket.Take(1, 60, kStart + seconds(121)), std::nullopt);
}

TEST(RateBucket, FollowsARateThatChanges) {
  RateBucket bucket;
  EXPECT_EQ(bucket.Take(60, 60, kStart), std::nullopt);
  EXPECT_EQ(bucket.Take(1, 600, kStart), milliseconds(100));
}

}  // namespace
}  // namespace sinkd
