// Analyses as JSON lines, over a server's own channel.
#include "server/service/json/json_analysis.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_split.h>

#include "error_details.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "running_server.h"
#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using google::protobuf::util::JsonStringToMessage;
using testing::DetailsOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kSpec[] = R"({"spec":{"model":"models/fake"}})";

std::shared_ptr<const Principal> Anna(Quotas quotas = {}) {
  return std::make_shared<Principal>("anna", Role::kAnalyse, quotas, /*weight=*/1,
                                     std::make_shared<Usage>(std::chrono::steady_clock::now));
}

class JsonAnalysisTest : public ::testing::Test {
 protected:
  JsonAnalysisTest() {
    analysis_.Open(running_.server->LocalChannel(), running_.server->local_callers());
  }

  HttpAnswer Post(const std::string& body, const std::stop_token& stop = {}) {
    return analysis_.Answer({.body = body,
                             .caller = "anna",
                             .peer_host = "192.0.2.7",
                             .principal = principal_,
                             .request_id = "asked-1"},
                            stop);
  }
  static std::string ReasonOf(const HttpAnswer& answer) {
    google::rpc::Status status;
    EXPECT_TRUE(JsonStringToMessage(answer.body, &status).ok()) << answer.body;
    return DetailsOf(status).info->reason();
  }
  static std::vector<v1::AnalyzeResponse> Read(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<v1::AnalyzeResponse> responses;
    for (const absl::string_view line : absl::StrSplit(answer.body, '\n', absl::SkipEmpty())) {
      EXPECT_TRUE(JsonStringToMessage({line.data(), line.size()}, &responses.emplace_back()).ok())
          << line;
    }
    return responses;
  }

  testing::RunningServer running_;
  JsonAnalysis analysis_;
  std::shared_ptr<const Principal> principal_ = Anna();
};

TEST_F(JsonAnalysisTest, AnswersEachSampleAndSumsUp) {
  const auto responses = Read(Post(std::string(kSpec) + "\n" +
                                   R"({"sample":{"sampleId":"a","text":{"text":"abc"}}})"
                                   "\r\n\n" +
                                   R"({"sample":{"sampleId":"b","text":{"text":"d"}}})"));
  ASSERT_THAT(responses, SizeIs(4));
  EXPECT_EQ(responses[0].started().request_id(), "asked-1");
  EXPECT_EQ(responses[1].record().sample_id(), "a");
  EXPECT_EQ(responses[2].record().sample_id(), "b");
  EXPECT_EQ(responses[3].summary().samples(), 2);
}

TEST_F(JsonAnalysisTest, WhatCannotBeReadIsRefusedByItsLine) {
  for (const auto& [body, line] : std::vector<std::pair<std::string, std::string>>{
           {"", "line 1"},
           {"{", "line 1"},
           {std::string(kSpec) + "\n\n{\"sample\":{\"nonsense\":1}}", "line 3"},
           {std::string(kSpec) + "\n[]", "line 2"}}) {
    const HttpAnswer answer = Post(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(ReasonOf(answer), "MALFORMED_MESSAGE") << body;
    EXPECT_THAT(answer.body, HasSubstr(line)) << body;
  }
}

TEST_F(JsonAnalysisTest, AnErrorBeforeTheFirstAnswerIsAnHttpError) {
  const HttpAnswer answer = Post(R"({"spec":{"model":"models/nowhere"}})");
  EXPECT_EQ(answer.status, 404) << answer.body;
  EXPECT_EQ(ReasonOf(answer), "MODEL_NOT_FOUND");
}

TEST_F(JsonAnalysisTest, ALaterErrorIsTheLastLine) {
  const HttpAnswer answer = Post(R"({"spec":{"model":"models/fake","failFast":true}})"
                                 "\n"
                                 R"({"sample":{"text":{"text":""}}})");
  EXPECT_EQ(answer.status, 200);
  const std::vector<std::string> lines = absl::StrSplit(answer.body, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2)) << answer.body;
  EXPECT_THAT(lines[1], StartsWith(R"({"error":{"code":)"));
}

TEST_F(JsonAnalysisTest, QuotasAreThoseOfTheCaller) {
  principal_ = Anna({.streams = 0});
  const HttpAnswer answer = Post(kSpec);
  EXPECT_EQ(answer.status, 429) << answer.body;
}

TEST_F(JsonAnalysisTest, EndsWhenToldTo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_NE(Post(kSpec, stop.get_token()).status, 200);
}

TEST(JsonAnalysis, SaysThatTheServerStarts) {
  JsonAnalysis analysis;
  const HttpAnswer answer = analysis.Answer({.body = kSpec}, {});
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("SERVER_STARTING"));
}

// A key counts only without a connection.
TEST_F(JsonAnalysisTest, AClientCannotPassForACallerOfThisProcess) {
  const LocalCallers::Entry entry(running_.server->local_callers(), {Anna({.streams = 0}), {}});
  v1::AnalysisService::Stub stub(running_.channel);
  grpc::ClientContext context;
  context.AddMetadata(kLocalCallerKey, entry.key());
  const auto stream = stub.Analyze(&context);
  v1::AnalyzeRequest spec;
  spec.mutable_spec()->set_model("models/fake");
  stream->Write(spec);
  stream->WritesDone();
  v1::AnalyzeResponse response;
  while (stream->Read(&response)) {
  }
  EXPECT_TRUE(stream->Finish().ok());  // as itself, who has no such quota
}

// As those of a client that has disconnected, which could take the places of others.
TEST_F(JsonAnalysisTest, CallsOfNobodyAreRefused) {
  const auto health = grpc::health::v1::Health::NewStub(running_.server->LocalChannel());
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckResponse response;
  EXPECT_EQ(health->Check(&context, {}, &response).error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace sinkd
