#include "server/service/calls/status_mapping.h"

#include <chrono>

#include <gtest/gtest.h>

#include "error_details.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::DetailsOf;
using testing::ErrorDetails;

const ErrorDetail kDetail{.reason = "SOME_REASON",
                          .subject = "models/a",
                          .value = "41",
                          .fix = "use 42",
                          .retry_after = std::chrono::milliseconds(2500)};

TEST(StatusMapping, OkHasNoDetails) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_EQ(ToRpcStatus(absl::OkStatus()).code(), 0);
}

TEST(StatusMapping, EveryErrorHasAnErrorInfo) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(InvalidArgument("no", kDetail)));
  ASSERT_TRUE(details.info);
  EXPECT_EQ(details.info->domain(), "sinkd");
  EXPECT_EQ(details.info->reason(), "SOME_REASON");
  EXPECT_EQ(details.info->metadata().at("subject"), "models/a");
  EXPECT_EQ(details.info->metadata().at("value"), "41");
  EXPECT_EQ(details.info->metadata().at("fix"), "use 42");
  EXPECT_EQ(details.status.message(), "no (got 41); use 42");
}

TEST(StatusMapping, AForeignStatusGetsTheNameOfItsCodeAsReason) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(absl::DeadlineExceededError("late")));
  EXPECT_EQ(details.status.code(), 4);
  EXPECT_EQ(details.info->reason(), "DEADLINE_EXCEEDED");
}

TEST(StatusMapping, InvalidArgumentNamesTheField) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(InvalidArgument("no", kDetail)));
  ASSERT_TRUE(details.bad_request);
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "models/a");
  EXPECT_EQ(details.bad_request->field_violations(0).description(), "no (got 41); use 42");
  EXPECT_FALSE(details.retry);
}

TEST(StatusMapping, NotFoundNamesTheResource) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(NotFound("no", kDetail)));
  ASSERT_TRUE(details.resource);
  EXPECT_EQ(details.resource->resource_type(), "models");
  EXPECT_EQ(details.resource->resource_name(), "models/a");
}

TEST(StatusMapping, FailedPreconditionNamesWhatIsNotMet) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(FailedPrecondition("no", kDetail)));
  ASSERT_TRUE(details.precondition);
  EXPECT_EQ(details.precondition->violations(0).type(), "SOME_REASON");
  EXPECT_EQ(details.precondition->violations(0).subject(), "models/a");
}

TEST(StatusMapping, ResourceExhaustedNamesTheQuotaAndWhenToRetry) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(ResourceExhausted("no", kDetail)));
  ASSERT_TRUE(details.quota);
  EXPECT_EQ(details.quota->violations(0).subject(), "models/a");
  ASSERT_TRUE(details.retry);
  EXPECT_EQ(details.retry->retry_delay().seconds(), 2);
  EXPECT_EQ(details.retry->retry_delay().nanos(), 500000000);
}

TEST(StatusMapping, ResourceExhaustedThatRetryingCannotHelpSaysNothingOfRetrying) {
  const ErrorDetails details =
      DetailsOf(ToGrpcStatus(ResourceExhausted("no", {.reason = "TOO_BIG"})));
  EXPECT_TRUE(details.quota);
  EXPECT_FALSE(details.retry);
}

TEST(StatusMapping, UnavailableAlwaysSaysWhenToRetry) {
  EXPECT_EQ(DetailsOf(ToGrpcStatus(Unavailable("no", kDetail))).retry->retry_delay().seconds(), 2);
  EXPECT_EQ(
      DetailsOf(ToGrpcStatus(Unavailable("no", {.reason = "R"}))).retry->retry_delay().seconds(),
      1);
}

TEST(StatusMapping, LongTextsAreCutToWhatATrailerTakes) {
  constexpr size_t kTrailerBytes = 8192;  // gRPC's default limit on metadata received
  const std::string text(100000, '\xc3');
  const grpc::Status status = ToGrpcStatus(
      InvalidArgument(text, {.reason = text, .subject = text, .value = text, .fix = text}));
  const size_t as_base64 = status.error_details().size() * 4 / 3;
  const size_t percent_encoded = status.error_message().size() * 3;
  EXPECT_LT(as_base64 + percent_encoded, kTrailerBytes);
}

TEST(StatusMapping, TextThatIsNotUtf8StaysReadable) {
  const ErrorDetails details = DetailsOf(ToGrpcStatus(
      InvalidArgument("bad \xff byte", {.reason = "R", .subject = "a\xc3", .value = "\xed\xa0"})));
  EXPECT_EQ(details.status.message().substr(0, 12), "bad \uFFFD byte");
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "a\uFFFD");
}

}  // namespace
}  // namespace sinkd
