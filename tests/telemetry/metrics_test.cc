#include "server/telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace sinkd {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kMethods = {"sinks.v1.ModelService/LoadModel",
                                           "sinks.v1.AnalysisService/Analyze"};

// The value of the series written exactly as `series`; nullopt when there is none.
std::optional<double> Value(const Metrics& metrics, const std::string& series) {
  std::istringstream text(metrics.Render());
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  }
  return std::nullopt;
}

TEST(Metrics, StartAtZeroWithEveryLabelSet) {
  const Metrics metrics("1.2.3", kMethods);
  const char* const codes[] = {"OK",
                               "CANCELLED",
                               "INVALID_ARGUMENT",
                               "NOT_FOUND",
                               "INTERNAL",
                               "RESOURCE_EXHAUSTED",
                               "UNAVAILABLE",
                               "DEADLINE_EXCEEDED",
                               "FAILED_PRECONDITION",
                               "UNAUTHENTICATED"};
  for (const std::string& method : {kMethods[0], kMethods[1], std::string("other")}) {
    EXPECT_EQ(Value(metrics, "sinkd_rpc_started_total{method=\"" + method + "\"}"), 0);
    EXPECT_EQ(Value(metrics, "sinkd_rpc_duration_seconds_count{method=\"" + method + "\"}"), 0);
    for (const std::string code : codes) {
      EXPECT_EQ(Value(metrics,
                      "sinkd_rpc_handled_total{code=\"" + code + "\",method=\"" + method + "\"}"),
                0)
          << code;
    }
  }
  for (const std::string outcome : {"ok", "failed", "cancelled"}) {
    EXPECT_EQ(Value(metrics, "sinkd_samples_total{outcome=\"" + outcome + "\"}"), 0);
    EXPECT_EQ(Value(metrics, "sinkd_model_loads_total{outcome=\"" + outcome + "\"}"), 0);
  }
  for (const std::string phase : {"queue", "encode", "forward", "analyse"}) {
    EXPECT_EQ(Value(metrics, "sinkd_sample_phase_duration_seconds_count{phase=\"" + phase + "\"}"),
              0);
  }
  for (const std::string lane : {"interactive", "batch"}) {
    EXPECT_EQ(Value(metrics, "sinkd_lane_queue_depth{lane=\"" + lane + "\"}"), 0);
    EXPECT_EQ(Value(metrics, "sinkd_lane_wait_seconds_count{lane=\"" + lane + "\"}"), 0);
  }
  for (const char* const plain :
       {"sinkd_tokens_total", "sinkd_records_sent_total", "sinkd_queue_depth",
        "sinkd_streams_in_flight", "sinkd_models_loaded",
        "sinkd_model_load_duration_seconds_count"}) {
    EXPECT_EQ(Value(metrics, plain), 0) << plain;
  }
}

TEST(Metrics, SayWhatRunsSinceWhenAndInHowMuchMemory) {
  const double now = static_cast<double>(std::time(nullptr));
  const Metrics metrics("1.2.3", kMethods);
  EXPECT_EQ(Value(metrics, "sinkd_build_info{version=\"1.2.3\"}"), 1);
  EXPECT_GE(Value(metrics, "sinkd_process_start_time_seconds"), now);
  EXPECT_GT(Value(metrics, "sinkd_process_resident_memory_bytes"), 1 << 20);
}

TEST(Metrics, CountCallsByMethodAndCode) {
  Metrics metrics("1", kMethods);
  metrics.RpcStarted(kMethods[1]);
  metrics.RpcHandled(kMethods[1], absl::StatusCode::kNotFound, milliseconds(1500));
  metrics.RpcStarted("evil.Service/" + std::string(1000, 'x'));
  metrics.RpcHandled("evil.Service/x", absl::StatusCode::kUnimplemented, milliseconds(1));
  metrics.RpcHandled(kMethods[0], static_cast<absl::StatusCode>(99), milliseconds(1));
  const std::string analyze = "{method=\"" + kMethods[1] + "\"}";
  EXPECT_EQ(Value(metrics, "sinkd_rpc_started_total" + analyze), 1);
  EXPECT_EQ(Value(metrics, "sinkd_rpc_duration_seconds_sum" + analyze), 1.5);
  EXPECT_EQ(
      Value(metrics, "sinkd_rpc_handled_total{code=\"NOT_FOUND\",method=\"" + kMethods[1] + "\"}"),
      1);
  EXPECT_EQ(Value(metrics, "sinkd_rpc_started_total{method=\"other\"}"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_rpc_handled_total{code=\"UNIMPLEMENTED\",method=\"other\"}"), 1);
  EXPECT_EQ(
      Value(metrics, "sinkd_rpc_handled_total{code=\"UNKNOWN\",method=\"" + kMethods[0] + "\"}"),
      1);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("evil")));
}

TEST(Metrics, CountSamplesStreamsAndRecords) {
  Metrics metrics("1", kMethods);
  metrics.StreamOpened();
  metrics.StreamOpened();
  metrics.StreamClosed();
  metrics.SampleDone(SampleOutcome::kOk, 100);
  metrics.SampleDone(SampleOutcome::kOk, 50);
  metrics.SampleDone(SampleOutcome::kFailed, 0);
  metrics.SampleDone(SampleOutcome::kCancelled, 0);
  metrics.PhaseDone(SamplePhase::kForward, milliseconds(250));
  metrics.RecordsSent(3);
  metrics.QueueDepthChanged(9);
  metrics.QueueDepthChanged(-2);
  EXPECT_EQ(Value(metrics, "sinkd_streams_in_flight"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_samples_total{outcome=\"ok\"}"), 2);
  EXPECT_EQ(Value(metrics, "sinkd_samples_total{outcome=\"failed\"}"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_samples_total{outcome=\"cancelled\"}"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_tokens_total"), 150);
  EXPECT_EQ(Value(metrics, "sinkd_records_sent_total"), 3);
  EXPECT_EQ(Value(metrics, "sinkd_queue_depth"), 7);
  EXPECT_EQ(Value(metrics, "sinkd_sample_phase_duration_seconds_sum{phase=\"forward\"}"), 0.25);
  EXPECT_EQ(Value(metrics, "sinkd_sample_phase_duration_seconds_count{phase=\"queue\"}"), 0);
}

TEST(Metrics, TellWhatWaitsByLane) {
  Metrics metrics("1", kMethods);
  metrics.lanes().DepthChanged("batch", 9);
  metrics.lanes().DepthChanged("batch", -2);
  metrics.lanes().Waited("interactive", milliseconds(250));
  EXPECT_EQ(Value(metrics, "sinkd_lane_queue_depth{lane=\"batch\"}"), 7);
  EXPECT_EQ(Value(metrics, "sinkd_lane_queue_depth{lane=\"interactive\"}"), 0);
  EXPECT_EQ(Value(metrics, "sinkd_lane_wait_seconds_sum{lane=\"interactive\"}"), 0.25);
  EXPECT_EQ(Value(metrics, "sinkd_lane_wait_seconds_count{lane=\"batch\"}"), 0);
}

TEST(Metrics, TellWhatIsTakenOfAMemoryBudget) {
  Metrics metrics("1", kMethods);
  EXPECT_EQ(Value(metrics, "sinkd_memory_budget_bytes{device=\"cpu\"}"), 0);
  EXPECT_EQ(Value(metrics, "sinkd_model_evictions_total"), 0);
  metrics.SetMemory("cuda:0", 100, 40, 30);
  metrics.SetMemory("cuda:0", 100, 50, 0);
  EXPECT_EQ(Value(metrics, "sinkd_memory_budget_bytes{device=\"cuda:0\"}"), 100);
  EXPECT_EQ(Value(metrics, "sinkd_memory_weight_bytes{device=\"cuda:0\"}"), 50);
  EXPECT_EQ(Value(metrics, "sinkd_memory_reserved_bytes{device=\"cuda:0\"}"), 0);
  metrics.SetEvictions(2);
  metrics.SetEvictions(3);
  EXPECT_EQ(Value(metrics, "sinkd_model_evictions_total"), 3);
}

TEST(Metrics, CountLoadsThatFellBackToStrips) {
  Metrics metrics("1", kMethods);
  EXPECT_EQ(Value(metrics, "sinkd_attention_check_failures_total"), 0);
  metrics.AttentionFellBack();
  EXPECT_EQ(Value(metrics, "sinkd_attention_check_failures_total"), 1);
}

TEST(Metrics, FollowModelsInAndOutOfMemory) {
  Metrics metrics("1", kMethods);
  metrics.LoadDone(LoadOutcome::kOk, milliseconds(2500));
  metrics.LoadDone(LoadOutcome::kFailed, milliseconds(500));
  metrics.ModelLoaded("tiny", 1000);
  metrics.ModelLoaded("tiny", 1000);
  metrics.ModelLoaded("big", 5000);
  EXPECT_EQ(Value(metrics, "sinkd_models_loaded"), 2);
  EXPECT_EQ(Value(metrics, "sinkd_model_weight_bytes{model=\"big\"}"), 5000);
  EXPECT_EQ(Value(metrics, "sinkd_model_loads_total{outcome=\"failed\"}"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_model_load_duration_seconds_sum"), 3);
  metrics.ModelUnloaded("big");
  metrics.ModelUnloaded("never");
  EXPECT_EQ(Value(metrics, "sinkd_models_loaded"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_model_weight_bytes{model=\"big\"}"), std::nullopt);
}

TEST(Metrics, SayWhetherTheServerTakesWorkAndHowMuchMayWait) {
  Metrics metrics("1", kMethods);
  EXPECT_EQ(Value(metrics, "sinkd_ready"), 0);
  metrics.SetReady(true);
  metrics.SetQueueCapacity(2048);
  EXPECT_EQ(Value(metrics, "sinkd_ready"), 1);
  EXPECT_EQ(Value(metrics, "sinkd_queue_capacity"), 2048);
  metrics.SetReady(false);
  EXPECT_EQ(Value(metrics, "sinkd_ready"), 0);
}

TEST(Metrics, CountConnectionsByPortAndReason) {
  Metrics metrics("1", kMethods);
  EXPECT_EQ(Value(metrics, "sinkd_connections{port=\"http\"}"), 0);
  EXPECT_EQ(Value(metrics, "sinkd_connections_refused_total{port=\"grpc\",reason=\"descriptors\"}"),
            0);
  metrics.SetConnections("grpc", 7);
  metrics.SetConnections("telnet", 9);
  metrics.ConnectionRefused("grpc", "address");
  metrics.ConnectionRefused("grpc", "weather");
  EXPECT_EQ(Value(metrics, "sinkd_connections{port=\"grpc\"}"), 7);
  EXPECT_EQ(Value(metrics, "sinkd_connections_refused_total{port=\"grpc\",reason=\"address\"}"), 1);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("weather")));
  metrics.SetStuckDevices(2);
  EXPECT_EQ(Value(metrics, "sinkd_stuck_devices"), 2);
}

TEST(Metrics, TellTheLatestRunOfEachModel) {
  Metrics metrics("1", kMethods);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("sinkd_run_")));
  metrics.RunSummarized("tiny", {.samples = 100,
                                 .secondary_sinks = 30,
                                 .secondary_sinks_per_1000_tokens = 1.5,
                                 .primary_score_mean = 0.75,
                                 .dormant_heads = 12,
                                 .collapsed_heads = 3,
                                 .focused_heads = 0});
  metrics.RunSummarized("big", {.samples = 7, .secondary_sinks = 0});
  EXPECT_EQ(Value(metrics, "sinkd_run_samples{model=\"tiny\"}"), 100);
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks{model=\"tiny\"}"), 30);
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks_per_1000_tokens{model=\"tiny\"}"), 1.5);
  EXPECT_EQ(Value(metrics, "sinkd_run_primary_score_mean{model=\"tiny\"}"), 0.75);
  EXPECT_EQ(Value(metrics, "sinkd_run_dormant_heads{model=\"tiny\"}"), 12);
  EXPECT_EQ(Value(metrics, "sinkd_run_collapsed_heads{model=\"tiny\"}"), 3);
  EXPECT_EQ(Value(metrics, "sinkd_run_focused_heads{model=\"tiny\"}"), 0);
  EXPECT_EQ(Value(metrics, "sinkd_run_dormant_heads{model=\"big\"}"), std::nullopt);
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks{model=\"big\"}"), 0);
  EXPECT_EQ(Value(metrics, "sinkd_run_primary_score_mean{model=\"big\"}"), std::nullopt);
}

TEST(Metrics, ForgetWhatTheLatestRunWasNotAskedFor) {
  Metrics metrics("1", kMethods);
  metrics.RunSummarized("tiny", {.samples = 100, .secondary_sinks = 30, .primary_score_mean = 0.5});
  metrics.RunSummarized("tiny", {.samples = 3, .primary_score_mean = 0.25});
  EXPECT_EQ(Value(metrics, "sinkd_run_samples{model=\"tiny\"}"), 3);
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks{model=\"tiny\"}"), std::nullopt);
  EXPECT_EQ(Value(metrics, "sinkd_run_primary_score_mean{model=\"tiny\"}"), 0.25);
  metrics.RunSummarized("tiny", {.samples = 4, .secondary_sinks = 2});
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks{model=\"tiny\"}"), 2);
}

TEST(Metrics, TellOfAHundredModelsThoseWithTheLatestRuns) {
  Metrics metrics("1", kMethods);
  const auto series = [](int i) {
    return "sinkd_run_samples{model=\"m" + std::to_string(i) + "\"}";
  };
  const auto run = [&](int i, int64_t samples) {
    metrics.RunSummarized("m" + std::to_string(i), {.samples = samples, .secondary_sinks = 1});
  };
  for (int i = 0; i < 100; ++i) run(i, 1);
  run(0, 2);  // m1 has the oldest run now
  run(100, 1);
  run(101, 1);
  EXPECT_EQ(Value(metrics, series(0)), 2);
  EXPECT_EQ(Value(metrics, series(1)), std::nullopt);
  EXPECT_EQ(Value(metrics, series(2)), std::nullopt);
  EXPECT_EQ(Value(metrics, "sinkd_run_secondary_sinks{model=\"m2\"}"), std::nullopt);
  for (int i = 3; i <= 101; ++i) EXPECT_EQ(Value(metrics, series(i)), 1) << i;
}

TEST(Metrics, PassPrometheusOwnLinter) {
  if (std::string(SINKD_PROMTOOL).ends_with("NOTFOUND"))
    GTEST_SKIP() << "promtool is not installed";
  Metrics metrics("1.2.3", kMethods);
  metrics.RpcHandled(kMethods[0], absl::StatusCode::kOk, milliseconds(3));
  metrics.ModelLoaded("tiny", 1000);
  metrics.RunSummarized("tiny", {.samples = 1,
                                 .secondary_sinks = 1,
                                 .secondary_sinks_per_1000_tokens = 1,
                                 .primary_score_mean = 1});
  const std::filesystem::path stem =
      std::filesystem::path(testing::TempDir()) / ("sinkd_metrics_" + std::to_string(getpid()));
  const std::string text = stem.string() + ".prom";
  const std::string output = stem.string() + ".out";
  std::ofstream(text) << metrics.Render();
  const std::string command =
      std::string(SINKD_PROMTOOL) + " check metrics <" + text + " >" + output + " 2>&1";
  const int result = std::system(command.c_str());
  std::ostringstream said;
  said << std::ifstream(output).rdbuf();
  EXPECT_EQ(result, 0) << said.str();
  EXPECT_EQ(said.str(), "");
  std::filesystem::remove(text);
  std::filesystem::remove(output);
}

}  // namespace
}  // namespace sinkd
