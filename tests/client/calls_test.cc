#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/error_report.h"
#include "client/model_client.h"
#include "tests/client/fake_server.h"

namespace sinkd::client {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// A policy that notes its waits instead of waiting.
struct NotedWaits {
  std::vector<milliseconds> waits;
  RetryPolicy policy{.attempts = 4, .wait = [this](milliseconds wait) { waits.push_back(wait); }};
};

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "draining");

TEST(ModelClient, ListsAllPagesByName) {
  testing::FakeServer server;
  std::vector<std::string> names;
  ASSERT_TRUE(ModelClient(server.MakeChannel())
                  .List({}, [&](const sinks::v1::Model& model) { names.push_back(model.name()); })
                  .ok());
  EXPECT_THAT(names, ElementsAre("models/alpha", "models/beta", "models/gamma"));
  EXPECT_EQ(server.unary_calls, 2);
}

TEST(ModelClient, RepeatsUnavailableCallsWithGrowingWaits) {
  testing::FakeServer server;
  server.unary_failures = {kUnavailable, kUnavailable};
  NotedWaits noted;
  EXPECT_TRUE(ModelClient(server.MakeChannel(), noted.policy).Get("alpha", {}).ok());
  EXPECT_THAT(noted.waits, ElementsAre(milliseconds(100), milliseconds(200)));
}

TEST(ModelClient, WaitsAsLongAsTheServerAsks) {
  testing::FakeServer server;
  server.unary_failures = {
      testing::MakeError(grpc::StatusCode::UNAVAILABLE, "loading", "LOADING", "", 5000)};
  NotedWaits noted;
  EXPECT_TRUE(ModelClient(server.MakeChannel(), noted.policy).Get("alpha", {}).ok());
  EXPECT_THAT(noted.waits, ElementsAre(milliseconds(5000)));
}

TEST(ModelClient, GivesUpAfterTheLastAttempt) {
  testing::FakeServer server;
  server.unary_failures.assign(10, kUnavailable);
  NotedWaits noted;
  const auto model = ModelClient(server.MakeChannel(), noted.policy).Get("alpha", {});
  EXPECT_TRUE(absl::IsUnavailable(model.status())) << model.status();
  EXPECT_EQ(server.unary_calls, 4);
}

TEST(ModelClient, DoesNotWaitPastTheDeadline) {
  testing::FakeServer server;
  server.unary_failures = {
      testing::MakeError(grpc::StatusCode::UNAVAILABLE, "loading", "LOADING", "", 3'600'000)};
  NotedWaits noted;
  CallOptions options;
  options.deadline = std::chrono::system_clock::now() + std::chrono::minutes(1);
  EXPECT_FALSE(ModelClient(server.MakeChannel(), noted.policy).Get("alpha", options).ok());
  EXPECT_TRUE(noted.waits.empty());
}

TEST(ModelClient, RepeatsNoOtherError) {
  testing::FakeServer server;
  NotedWaits noted;
  const auto model = ModelClient(server.MakeChannel(), noted.policy).Get("nothing", {});
  EXPECT_TRUE(absl::IsNotFound(model.status())) << model.status();
  EXPECT_EQ(ReadErrorReport(model.status()).reason, "MODEL_NOT_FOUND");
  EXPECT_EQ(server.unary_calls, 1);
}

TEST(ModelClient, SendsTheRequestId) {
  testing::FakeServer server;
  CallOptions options;
  options.request_id = "request-7";
  EXPECT_TRUE(ModelClient(server.MakeChannel()).Get("alpha", options).ok());
  EXPECT_EQ(server.last_request_id(), "request-7");
}

TEST(ModelClient, LoadsWithProgressAndReturnsTheReadyModel) {
  testing::FakeServer server;
  std::vector<int64_t> done;
  sinks::v1::LoadModelRequest request;
  request.set_name("models/beta");
  request.set_device("cpu");
  request.set_compute_type(sinks::v1::COMPUTE_TYPE_BFLOAT16);
  const auto model = ModelClient(server.MakeChannel())
                         .Load(request, {}, [&](const sinks::v1::LoadModelResponse& response) {
                           done.push_back(response.bytes_done());
                         });
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(done, ElementsAre(0, 1 << 20, 2 << 20, 3 << 20));
  EXPECT_EQ(model->state(), sinks::v1::MODEL_STATE_READY);
  EXPECT_EQ(model->compute_type(), sinks::v1::COMPUTE_TYPE_BFLOAT16);
}

TEST(ModelClient, ReturnsTheErrorOfALoadWithItsDetails) {
  testing::FakeServer server;
  server.load_status = testing::MakeError(grpc::StatusCode::FAILED_PRECONDITION,
                                          "model.safetensors is truncated", "CHECKPOINT_TRUNCATED");
  sinks::v1::LoadModelRequest request;
  request.set_name("alpha");
  const auto model = ModelClient(server.MakeChannel()).Load(request, {}, {});
  EXPECT_TRUE(absl::IsFailedPrecondition(model.status())) << model.status();
  EXPECT_EQ(ReadErrorReport(model.status()).reason, "CHECKPOINT_TRUNCATED");
}

TEST(Cancellation, EndsACallMadeAfterIt) {
  testing::FakeServer server;
  Cancellation cancellation;
  cancellation.Cancel();
  CallOptions options;
  options.cancellation = &cancellation;
  const auto model = ModelClient(server.MakeChannel()).Get("alpha", options);
  EXPECT_TRUE(absl::IsCancelled(model.status())) << model.status();
}

}  // namespace
}  // namespace sinkd::client
