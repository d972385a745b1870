#include "server/scheduler/caller_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;

TEST(CallerBound, RefusesTheCallerAtTheBoundAndNobodyElse) {
  CallerBound bound("streams of the server", 2);
  bound.Take("a", 1);
  EXPECT_TRUE(bound.Check("a").ok());
  bound.Take("a", 1);
  const absl::Status refused = bound.Check("a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("holds 2 streams of the server"));
  const std::optional<ErrorDetail> detail = GetErrorDetail(refused);
  ASSERT_TRUE(detail);
  EXPECT_EQ(detail->reason, "CALLER_LIMIT");
  EXPECT_THAT(detail->fix, HasSubstr("--max-caller-percent"));
  EXPECT_TRUE(detail->retry_after);
  EXPECT_TRUE(bound.Check("b").ok());
}

TEST(CallerBound, TakesTheCallerAgainOnceHeHoldsLess) {
  CallerBound bound("streams of the server", 2);
  bound.Take("a", 3);
  bound.Give("a", 1);
  EXPECT_FALSE(bound.Check("a").ok());
  bound.Give("a", 1);
  EXPECT_TRUE(bound.Check("a").ok());
}

TEST(CallerBound, ACallersPartIsNeverNothing) {
  EXPECT_EQ(CallersPart(2048, 50), 1024);
  EXPECT_EQ(CallersPart(3, 50), 1);
  EXPECT_EQ(CallersPart(1, 1), 1);
  EXPECT_EQ(CallersPart(1, 99), 1);
}

TEST(CallerBound, APlaceStaysForOthersUnlessThereIsNoBound) {
  EXPECT_EQ(CallersPart(2, 99), 1);
  EXPECT_EQ(CallersPart(8, 99), 7);
  EXPECT_EQ(CallersPart(64, 100), CallerBound::kNone);
}

}  // namespace
}  // namespace sinkd
