#include "server/base/containment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace sinkd {
namespace {

TEST(Contained, ReturnsWhatTheWorkReturns) {
  EXPECT_TRUE(Contained([] { return absl::OkStatus(); }).ok());
  EXPECT_EQ(Contained([] { return absl::AbortedError("x"); }), absl::AbortedError("x"));
}

TEST(Contained, MakesErrorsOfExceptions) {
  const absl::Status memory = Contained([]() -> absl::Status { throw std::bad_alloc(); });
  EXPECT_TRUE(absl::IsResourceExhausted(memory)) << memory;
  const absl::Status length = Contained([]() -> absl::Status { throw std::length_error("vast"); });
  EXPECT_TRUE(absl::IsInternal(length)) << length;
  EXPECT_THAT(std::string(length.message()), testing::HasSubstr("vast"));
  EXPECT_TRUE(absl::IsInternal(Contained([]() -> absl::Status { throw 1; })));
}

}  // namespace
}  // namespace sinkd
