// RunStudy with fake studies: the order of answers, who gets the device, and how a study ends.
#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze_call.h"
#include "error_details.h"
#include "running_server.h"
#include "server/base/status.h"
#include "sinks/v1/mechanism.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = sinks::v1;
using testing::AnalyzeCall;
using testing::DetailsOf;
using ::testing::ElementsAre;
using testing::Gate;
using ::testing::HasSubstr;
using testing::IdsSample;
using testing::RunningServer;
using testing::SpecFor;
using testing::TextSample;

constexpr std::chrono::minutes kLong{1};

v1::RunStudyRequest StudyOf(const std::vector<v1::Sample>& samples) {
  v1::RunStudyRequest request;
  request.set_model("models/fake");
  for (const v1::Sample& sample : samples) *request.add_samples() = sample;
  request.mutable_norms();
  return request;
}

// One RunStudy call as a test tells it.
class StudyCall {
 public:
  explicit StudyCall(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  void Open(const v1::RunStudyRequest& request) { reader_ = stub_.RunStudy(&context, request); }
  // The next message, which is kept; false at the end.
  bool Read() {
    v1::RunStudyResponse response;
    if (!reader_->Read(&response)) return false;
    answers.push_back(std::move(response));
    return true;
  }
  grpc::Status Drain() {
    while (Read()) {
    }
    return reader_->Finish();
  }
  grpc::Status Run(const v1::RunStudyRequest& request) {
    Open(request);
    return Drain();
  }
  // The report, which must be the last message and the only one.
  v1::StudyReport report() const {
    EXPECT_FALSE(answers.empty());
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].has_report(), i + 1 == answers.size()) << i;
    }
    return answers.empty() ? v1::StudyReport() : answers.back().report();
  }
  std::vector<v1::SampleError> errors() const {
    std::vector<v1::SampleError> all;
    for (const v1::RunStudyResponse& each : answers) {
      if (each.has_sample_error()) all.push_back(each.sample_error());
    }
    return all;
  }

  grpc::ClientContext context;
  std::vector<v1::RunStudyResponse> answers;

 private:
  v1::MechanismService::Stub stub_;
  std::unique_ptr<grpc::ClientReader<v1::RunStudyResponse>> reader_;
};

// A server whose studies wait in every step at a gate until it opens or they are stopped.
struct GatedServer : RunningServer {
  explicit GatedServer(Server::Options options = {}) : RunningServer(std::move(options)) {
    catalog.runner->study.on_step = [this](int64_t, std::stop_token stop) {
      return gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped before a block");
    };
  }
  Gate gate;
};

TEST(StudyStream, AnswersStartedFirstAndTheReportLast) {
  RunningServer running({.limits = {.progress_interval = std::chrono::milliseconds(0)}});
  StudyCall call(running.channel);
  ASSERT_TRUE(call.Run(StudyOf({TextSample("hello"), TextSample("all")})).ok());
  ASSERT_GE(call.answers.size(), 2u);
  ASSERT_TRUE(call.answers.front().has_started());
  const v1::StudyStarted& started = call.answers.front().started();
  EXPECT_EQ(started.request().model(), "models/fake");
  EXPECT_EQ(started.request().samples_size(), 0);
  EXPECT_EQ(started.request().detection().cosine_threshold(), 0.9);
  EXPECT_EQ(started.request().targets().limit(), 2000);
  EXPECT_TRUE(started.request().has_norms());
  EXPECT_EQ(started.blocks(), testing::kLayers);
  EXPECT_EQ(started.compute_type(), "float32");
  EXPECT_EQ(started.device(), "cpu");
  EXPECT_FALSE(started.request_id().empty());
  const v1::StudyReport report = call.report();
  EXPECT_FALSE(report.partial());
  EXPECT_EQ(report.samples(), 2);
  EXPECT_EQ(report.tokens(), 8);
  EXPECT_EQ(report.norms().rows_size(), 3) << "of three steps";
  EXPECT_GT(report.seconds(), 0);
}

TEST(StudyStream, TellsProgressAsItIsMade) {
  GatedServer running({.limits = {.progress_interval = std::chrono::milliseconds(0)}});
  running.catalog.runner->study.on_step = [&](int64_t step, std::stop_token stop) {
    return step == 0 || running.gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped");
  };
  running.catalog.runner->study.is_done = [](int64_t steps) { return steps >= 200; };
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  const auto is_first_step = [](const v1::RunStudyResponse& answer) {
    return answer.progress().phase() == "fake" && answer.progress().steps_done() == 1;
  };
  while (call.Read() && !is_first_step(call.answers.back())) {
  }
  ASSERT_TRUE(is_first_step(call.answers.back())) << "told while the second step runs";
  EXPECT_EQ(call.answers.back().progress().steps_total(), 3);
  running.gate.Open();
  ASSERT_TRUE(call.Drain().ok());
  int64_t last = 0;
  for (const v1::RunStudyResponse& each : call.answers) {
    if (each.progress().phase() != "fake") continue;
    EXPECT_GT(each.progress().steps_done(), last) << "what is older is not told";
    last = each.progress().steps_done();
  }
}

TEST(StudyStream, TellsOfABadSampleAndGoesOnWithTheOthers) {
  RunningServer running;
  v1::Sample chat;
  chat.set_sample_id("chat");
  chat.mutable_chat()->add_messages()->set_content("hi");
  StudyCall call(running.channel);
  ASSERT_TRUE(
      call.Run(StudyOf({TextSample("hello"), IdsSample({1, 999}, "ids"), chat, TextSample("all")}))
          .ok());
  const std::vector<v1::SampleError> errors = call.errors();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].sample_index(), 1);
  EXPECT_EQ(errors[0].sample_id(), "ids");
  EXPECT_EQ(DetailsOf(errors[0].status()).info->reason(), "TOKEN_ID_OUT_OF_RANGE");
  EXPECT_EQ(errors[1].sample_index(), 2);
  EXPECT_EQ(DetailsOf(errors[1].status()).info->reason(), "CHAT_TEMPLATE_MISSING");
  const v1::StudyReport report = call.report();
  EXPECT_EQ(report.samples(), 2);
  ASSERT_EQ(report.positions_size(), 2);
  EXPECT_EQ(report.positions(0).sample_index(), 0);
  EXPECT_EQ(report.positions(1).sample_index(), 3) << "the place in the request";
}

TEST(StudyStream, EndsWithTheErrorWhenNoSampleCanBeUsed) {
  RunningServer running;
  StudyCall call(running.channel);
  const grpc::Status status = call.Run(StudyOf({IdsSample({}, "a"), IdsSample({999}, "b")}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(status).info->reason(), "SAMPLE_EMPTY");
  EXPECT_THAT(status.error_message(), HasSubstr("sample 0 (a)"));
  EXPECT_EQ(call.errors().size(), 2u) << "each is told of before";
}

TEST(StudyStream, NamesTheSampleWhoseTextIsNotUtf8) {
  RunningServer running;
  StudyCall call(running.channel);
  const grpc::Status status = call.Run(StudyOf({TextSample("hello"), TextSample("\xff")}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(status).info->reason(), "TEXT_NOT_UTF8");
  EXPECT_THAT(status.error_message(), HasSubstr("sample 1"));
}

TEST(StudyStream, EndsWithTheErrorOfAStep) {
  RunningServer running;
  running.catalog.runner->study.on_step = [](int64_t step, std::stop_token) {
    return step == 1 ? ResourceExhausted("out of memory", {.reason = "OUT_OF_MEMORY"})
                     : absl::OkStatus();
  };
  StudyCall call(running.channel);
  const grpc::Status status = call.Run(StudyOf({TextSample("hello")}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "OUT_OF_MEMORY");
}

TEST(StudyStream, RefusesWhatItCannotDoByName) {
  RunningServer running;
  const auto refused = [&](void (*spoil)(v1::RunStudyRequest&)) {
    v1::RunStudyRequest request = StudyOf({TextSample("hello")});
    spoil(request);
    StudyCall call(running.channel);
    return call.Run(request);
  };
  EXPECT_EQ(refused([](auto& request) { request.set_model("models/none"); }).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused([](auto& request) { request.set_model("models/disk"); }).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  const grpc::Status empty = refused([](auto& request) { request.clear_samples(); });
  EXPECT_EQ(empty.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(empty).bad_request->field_violations(0).field(), "samples");
  EXPECT_EQ(DetailsOf(refused([](auto& request) { request.clear_study(); })).info->reason(),
            "STUDY_MISSING");
  EXPECT_EQ(DetailsOf(refused([](auto& request) { request.mutable_massive()->set_top(0); }))
                .bad_request->field_violations(0)
                .field(),
            "massive.top");
}

TEST(StudyStream, CancellingStopsTheStepAtOnce) {
  GatedServer running;
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  running.gate.WaitForArrivals(1);
  call.context.TryCancel();
  running.gate.WaitForStopped(1);
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
  EXPECT_EQ(running.gate.arrivals(), 1) << "no step is taken after it";
}

TEST(StudyStream, ReportsWhatIsDoneAMomentBeforeTheDeadline) {
  GatedServer running;
  running.catalog.runner->study.on_step = [&](int64_t step, std::stop_token stop) {
    if (step < 2) return absl::OkStatus();
    return running.gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped before a block");
  };
  StudyCall call(running.channel);
  call.context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
  ASSERT_TRUE(call.Run(StudyOf({TextSample("hello")})).ok());
  const v1::StudyReport report = call.report();
  EXPECT_TRUE(report.partial());
  EXPECT_EQ(report.partial_reason(), "the call's deadline came in phase fake, 2 of 3 steps done");
  EXPECT_EQ(report.norms().rows_size(), 2);
}

TEST(StudyStream, ReportsPartiallyEvenBeforeTheFirstStepIsDone) {
  GatedServer running;
  v1::RunStudyRequest request = StudyOf({TextSample("hello")});
  request.set_time_budget_seconds(0.05);
  StudyCall call(running.channel);
  ASSERT_TRUE(call.Run(request).ok());
  const v1::StudyReport report = call.report();
  EXPECT_TRUE(report.partial());
  EXPECT_THAT(report.partial_reason(), HasSubstr("the time budget ran out"));
  EXPECT_EQ(report.samples(), 0);
  EXPECT_TRUE(report.has_norms()) << "of the study asked for";
}

TEST(StudyStream, ReportsInTimeThoughTheDeviceIsBusyWithAnother) {
  RunningServer running;
  Gate gate;
  running.catalog.runner->before_run = [&](const TokenIds&, std::stop_token stop) {
    return gate.Pass(stop) ? absl::OkStatus() : Cancelled("stopped before a block");
  };
  AnalyzeCall other(running.channel);
  other.Open(SpecFor());
  other.Send(TextSample("hello"));
  other.Close();
  gate.WaitForArrivals(1);
  v1::RunStudyRequest request = StudyOf({TextSample("hello")});
  request.set_time_budget_seconds(0.05);
  StudyCall call(running.channel);
  ASSERT_TRUE(call.Run(request).ok());
  EXPECT_TRUE(call.report().partial());
  gate.Open();
  EXPECT_TRUE(other.Drain().ok());
}

TEST(StudyStream, LetsAnAnalysisHaveTheDeviceBetweenTwoSteps) {
  RunningServer running;
  std::atomic<bool> analysed = false;
  running.catalog.runner->before_run = [&](const TokenIds&, std::stop_token) {
    analysed = true;
    return absl::OkStatus();
  };
  running.catalog.runner->study.is_done = [&](int64_t) { return analysed.load(); };
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  AnalyzeCall other(running.channel);
  other.Open(SpecFor());
  other.Send(TextSample("hello"));
  other.Close();
  EXPECT_TRUE(other.Drain().ok()) << "a study that kept the device would never be done";
  EXPECT_TRUE(call.Drain().ok());
}

TEST(StudyStream, TwoStudiesTakeTheirStepsInTurn) {
  RunningServer running;
  std::atomic<int> studies = 0;
  running.catalog.runner->study.on_step = [&](int64_t step, std::stop_token) {
    studies += step == 0 ? 1 : 0;
    return absl::OkStatus();
  };
  running.catalog.runner->study.is_done = [&](int64_t) { return studies.load() == 2; };
  StudyCall first(running.channel);
  first.Open(StudyOf({TextSample("hello")}));
  StudyCall second(running.channel);
  second.Open(StudyOf({TextSample("hello")}));
  EXPECT_TRUE(second.Drain().ok());
  EXPECT_TRUE(first.Drain().ok());
}

TEST(StudyStream, CountsAgainstTheLimitOnStreams) {
  GatedServer running({.max_streams = 1});
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  running.gate.WaitForArrivals(1);
  StudyCall refused(running.channel);
  EXPECT_EQ(refused.Run(StudyOf({TextSample("hello")})).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  running.gate.Open();
  EXPECT_TRUE(call.Drain().ok());
}

TEST(StudyStream, ClosingRefusesNewStudiesAndLetsRunningOnesFinish) {
  GatedServer running;
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  running.gate.WaitForArrivals(1);
  running.server->Close();
  StudyCall late(running.channel);
  EXPECT_EQ(DetailsOf(late.Run(StudyOf({TextSample("hello")}))).info->reason(), "SERVER_STOPPING");
  running.gate.Open();
  EXPECT_TRUE(call.Drain().ok());
  EXPECT_EQ(call.report().samples(), 1);
  EXPECT_TRUE(running.server->WaitUntilIdle(kLong));
}

TEST(StudyStream, StoppingEndsAStudyWithUnavailable) {
  GatedServer running;
  StudyCall call(running.channel);
  call.Open(StudyOf({TextSample("hello")}));
  running.gate.WaitForArrivals(1);
  std::thread stop([&running] { running.server->Stop(); });
  const grpc::Status status = call.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(status).info->reason(), "SERVER_STOPPING");
  stop.join();
}

TEST(StudyStream, CountsItsSamplesTokensAndCall) {
  RunningServer running;
  StudyCall call(running.channel);
  ASSERT_TRUE(call.Run(StudyOf({TextSample("hello"), IdsSample({}), TextSample("all")})).ok());
  ASSERT_TRUE(running.server->WaitUntilIdle(kLong));
  const std::string text = running.metrics.Render();
  EXPECT_THAT(text, HasSubstr("sinkd_rpc_handled_total{code=\"OK\",method=\"sinks.v1."
                              "MechanismService/RunStudy\"} 1"));
  EXPECT_THAT(text, HasSubstr("sinkd_tokens_total 8"));
  EXPECT_THAT(text, HasSubstr("sinkd_streams_in_flight 0"));
}

}  // namespace
}  // namespace sinkd
