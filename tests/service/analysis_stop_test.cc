// Analyze when it is to stop: the client goes away, its deadline passes, the server drains.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "analyze_call.h"
#include "error_details.h"
#include "running_server.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::AnalyzeCall;
using testing::DetailsOf;
using testing::Gate;
using testing::RunningServer;
using testing::SpecFor;
using testing::TextSample;

constexpr std::chrono::minutes kLong{1};

// A server whose samples wait at a gate until it opens or their stream is stopped.
struct GatedServer : RunningServer {
  explicit GatedServer(Server::Options options = {}) : RunningServer(std::move(options)) {
    catalog.runner->before_run = [this](const TokenIds&, std::stop_token stop) {
      return gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped before a block");
    };
  }
  Gate gate;
};

TEST(AnalyzeStop, CancellingSetsTheStopTokenAndNothingMoreIsComputed) {
  GatedServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (int i = 0; i < 5; ++i) call.Send(TextSample("hello"));
  running.gate.WaitForArrivals(1);
  call.context.TryCancel();
  running.gate.WaitForStopped(1);
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
  EXPECT_EQ(running.catalog.runner->runs(), 1);
}

TEST(AnalyzeStop, APassedDeadlineSetsTheStopTokenToo) {
  GatedServer running;
  AnalyzeCall call(running.channel);
  call.context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  call.Open(SpecFor());
  for (int i = 0; i < 3; ++i) call.Send(TextSample("hello"));
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
  EXPECT_LE(running.catalog.runner->runs(), 1);
}

TEST(AnalyzeStop, AStreamThatFailsDropsWhatItHasWaiting) {
  GatedServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (int i = 0; i < 3; ++i) call.Send(TextSample("hello"));
  running.gate.WaitForArrivals(1);
  call.Send(sinks::v1::AnalyzeRequest());
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
  EXPECT_EQ(running.catalog.runner->runs(), 1);
}

TEST(AnalyzeStop, OtherStreamsGoOnWhenOneIsCancelled) {
  GatedServer running;
  AnalyzeCall cancelled(running.channel);
  cancelled.Open(SpecFor());
  cancelled.Send(TextSample("hello"));
  running.gate.WaitForArrivals(1);
  AnalyzeCall other(running.channel);
  other.Open(SpecFor());
  other.Send(TextSample("hello"));
  other.Close();
  cancelled.context.TryCancel();
  running.gate.WaitForStopped(1);
  running.gate.Open();
  EXPECT_TRUE(other.Drain().ok());
  EXPECT_FALSE(cancelled.Drain().ok());
}

TEST(AnalyzeStop, ClosingRefusesNewStreamsAndLetsRunningOnesFinish) {
  GatedServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  call.Send(TextSample("hello"));
  running.gate.WaitForArrivals(1);
  running.server->Close();
  EXPECT_FALSE(running.server->WaitUntilIdle(std::chrono::milliseconds(0)));

  AnalyzeCall late(running.channel);
  late.Open(SpecFor());
  const grpc::Status refused = late.Drain();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(refused).info->reason(), "SERVER_STOPPING");
  EXPECT_TRUE(DetailsOf(refused).retry);

  running.gate.Open();
  call.Send(TextSample("more"));
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
}

TEST(AnalyzeStop, StoppingEndsWhatStillRunsWithUnavailable) {
  GatedServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  call.Send(TextSample("hello"));
  running.gate.WaitForArrivals(1);
  std::thread stop([&running] { running.server->Stop(); });
  const grpc::Status status = call.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(status).info->reason(), "SERVER_STOPPING");
  stop.join();
  EXPECT_EQ(running.catalog.runner->runs(), 1);
}

}  // namespace
}  // namespace sinkd
