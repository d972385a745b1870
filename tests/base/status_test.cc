#include "server/base/status.h"

#include <gtest/gtest.h>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

TEST(Status, MessageNamesTheValueAndTheWayOut) {
  const absl::Status status = InvalidArgument(
      "epsilon is over its limit of 1",
      {.reason = "OUT_OF_RANGE", .subject = "epsilon", .value = "2", .fix = "lower it"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "epsilon is over its limit of 1 (got 2); lower it");
}

TEST(Status, DetailComesBackAsItWasGiven) {
  const absl::Status status = ResourceExhausted("full", {.reason = "QUEUE_FULL",
                                                         .subject = "queue",
                                                         .value = "256",
                                                         .fix = "retry later",
                                                         .retry_after = std::chrono::seconds(2)});
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason, "QUEUE_FULL");
  EXPECT_EQ(detail->subject, "queue");
  EXPECT_EQ(detail->value, "256");
  EXPECT_EQ(detail->fix, "retry later");
  EXPECT_EQ(detail->retry_after, std::chrono::milliseconds(2000));
}

TEST(Status, AForeignStatusHasNoDetail) {
  EXPECT_FALSE(GetErrorDetail(absl::InternalError("x")).has_value());
  EXPECT_FALSE(GetErrorDetail(absl::OkStatus()).has_value());
}

TEST(Status, SeparatorsInAValueDoNotMoveTheOtherFields) {
  const auto detail = GetErrorDetail(NotFound("none", {.reason = "NO_MODEL",
                                                       .value = "a\x1f"
                                                                "b",
                                                       .fix = "list the models"}));
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->value, "a b");
  EXPECT_EQ(detail->fix, "list the models");
}

TEST(Status, WhatItQuotesIsSentAsUtf8) {
  const absl::Status status = InvalidArgument(
      "a\xFF", {.reason = "BAD", .subject = "b\xC3", .value = "c\xED\xA0\x80", .fix = "d"});
  EXPECT_EQ(status.message(), "a\uFFFD (got c\uFFFD\uFFFD\uFFFD); d");
  const auto detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->subject, "b\uFFFD");
  EXPECT_EQ(detail->value, "c\uFFFD\uFFFD\uFFFD");
}

TEST(Status, ALongValueIsShortened) {
  const absl::Status status =
      NotFound("none", {.reason = "NO_MODEL", .value = std::string(5000, 'x')});
  EXPECT_EQ(GetErrorDetail(status)->value, std::string(80, 'x') + "...");
}

TEST(Shorten, KeepsItsLimitWhateverItReplaces) {
  EXPECT_EQ(Shorten("a\xFF\xFF"), "a\uFFFD\uFFFD");
  EXPECT_EQ(Shorten("a\xFF\xFF", 4), "a\uFFFD...");
  EXPECT_EQ(Shorten("a\xFF\xFF", 3), "a...");
  EXPECT_EQ(Shorten("ab\xF0\x9F\x98\x80", 3), "ab...");
  EXPECT_EQ(Shorten("ab\xF0\x9F\x98\x80", 6), "ab\U0001F600");
}

TEST(Shorten, CutsOnACharacterAndReplacesControls) {
  EXPECT_EQ(Shorten("a\nb\tc"), "a b c");
  EXPECT_EQ(Shorten("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9...");
  EXPECT_EQ(Shorten("abcd", 4), "abcd");
}

absl::Status NestedMacros() {
  SINKD_RETURN_IF_ERROR([]() -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(const int one, absl::StatusOr<int>(1));
    return one == 1 ? Internal("reached") : absl::OkStatus();
  }());
  return absl::OkStatus();
}

TEST(Macros, MayStandInsideEachOther) {
  EXPECT_EQ(NestedMacros().message(), "reached");
}

TEST(StrCat, TakesStringViewsOfTheStandardLibrary) {
  EXPECT_EQ(StrCat(std::string_view("a"), 1, std::string("b"), "c"), "a1bc");
}

}  // namespace
}  // namespace sinkd
