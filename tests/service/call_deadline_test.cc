#include "server/service/calls/call_deadline.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

using Clock = Executor::Clock;
using std::chrono::minutes;
using std::chrono::system_clock;

static_assert(Clock::is_steady);

TEST(DeadlineOf, IsAsFarAwayAsOnTheWallClock) {
  const Clock::time_point before = Clock::now();
  const Clock::time_point deadline = DeadlineOf(system_clock::now() + minutes(10));
  EXPECT_GT(deadline, before + minutes(9));
  EXPECT_LE(deadline, Clock::now() + minutes(10));
  EXPECT_LT(DeadlineOf(system_clock::now() - minutes(1)), Clock::now());
}

TEST(DeadlineOf, IsNeverWhereTheCallHasNone) {
  EXPECT_EQ(DeadlineOf(system_clock::time_point::max()), Clock::time_point::max());
}

}  // namespace
}  // namespace sinkd
