#include "server/base/calendar.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(Calendar, TakesDaysThatThereAre) {
  for (const char* day : {"1000-01-01", "2024-02-29", "2000-02-29", "9999-12-31"}) {
    EXPECT_TRUE(IsDate(day)) << day;
  }
}

TEST(Calendar, RefusesEverythingElse) {
  for (const char* text :
       {"", "0000-01-01", "0999-12-31", "10000-01-01", "2025-02-29", "1900-02-29", "2025-13-01",
        "2025-00-01", "2025-01-00", "2025-04-31", "2025-1-031", "25-01-001", " 2025-1-01",
        "2025-01-1 ", "2025-+1-01", "-025-01-01", "2025/01/01", "1 Jan 2025", "2025-01-01T"}) {
    EXPECT_FALSE(IsDate(text)) << text;
  }
}

}  // namespace
}  // namespace sinkd
