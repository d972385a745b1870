#include "server/service/server.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze_call.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "running_server.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::FakeCatalog;
using testing::RunningServer;

TEST(Server, NamesEveryMethod) {
  EXPECT_THAT(Server::Methods(),
              ::testing::UnorderedElementsAre(
                  "sinks.v1.AnalysisService/Analyze", "sinks.v1.AuditService/AuditRuns",
                  "sinks.v1.MechanismService/RunStudy", "sinks.v1.ModelService/ListModels",
                  "sinks.v1.ModelService/GetModel", "sinks.v1.ModelService/PlanModel",
                  "sinks.v1.ModelService/LoadModel", "sinks.v1.ModelService/UnloadModel",
                  "sinks.v1.ModelService/ListFamilies", "sinks.v1.RunService/CreateRun",
                  "sinks.v1.RunService/BackUpStore", "sinks.v1.RunService/DeleteRun",
                  "sinks.v1.RunService/GetRun", "sinks.v1.RunService/ImportRecords",
                  "sinks.v1.RunService/ListRuns", "sinks.v1.RunService/ListSampleKeys",
                  "sinks.v1.RunService/ListStudies", "sinks.v1.RunService/StreamRecords",
                  "sinks.v1.RunService/SummarizeRuns", "sinks.v1.RunService/UpdateRun",
                  "sinks.v1.ServerService/GetServerStatus"));
}

TEST(Server, ReportsTheFreePortItPicked) {
  RunningServer running;
  EXPECT_GT(running.server->port(), 0);
  EXPECT_EQ(running.server->address(), "127.0.0.1:" + std::to_string(running.server->port()));
}

TEST(Server, SaysWhenThePortIsTaken) {
  RunningServer running;
  FakeCatalog catalog;
  Metrics metrics("test", Server::Methods());
  const auto second = Server::Start({.listen = running.server->address()}, catalog, metrics);
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(GetErrorDetail(second.status())->subject, running.server->address());
  EXPECT_FALSE(GetErrorDetail(second.status())->fix.empty());
}

TEST(Server, IsNotServingWhileADeviceIsStuck) {
  testing::Gate gate;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<bool> stuck;
  RunningServer running(
      {.stuck_after = std::chrono::milliseconds(100), .on_stuck = [&](bool is_stuck) {
         const std::lock_guard lock(mutex);
         stuck = is_stuck;
         changed.notify_all();
       }});
  const auto wait_for = [&](bool wanted) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stuck == wanted; });
  };
  const auto health = grpc::health::v1::Health::NewStub(running.channel);
  const auto is_serving = [&] {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckResponse response;
    EXPECT_TRUE(health->Check(&context, {}, &response).ok());
    return response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  };
  running.server->SetServing(true);
  running.catalog.runner->before_run = [&](const TokenIds&, std::stop_token stop) {
    return gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped");
  };
  testing::AnalyzeCall call(running.channel);
  call.Open(testing::SpecFor());
  call.Send(testing::TextSample("hello"));
  call.Close();
  wait_for(true);
  EXPECT_FALSE(is_serving());
  EXPECT_THAT(running.metrics.Render(), ::testing::HasSubstr("sinkd_stuck_devices 1"));
  gate.Open();
  EXPECT_TRUE(call.Drain().ok());
  wait_for(false);
  EXPECT_TRUE(is_serving());
  EXPECT_THAT(running.metrics.Render(), ::testing::HasSubstr("sinkd_stuck_devices 0"));
}

TEST(Server, StopsMoreThanOnce) {
  RunningServer running;
  running.server->Stop();
  running.server->Stop();
}

}  // namespace
}  // namespace sinkd
