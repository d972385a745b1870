// What one caller can hold, and what clients that send or read nothing can.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "run_store_fixture.h"
#include "server/access/sha256.h"
#include "server/base/str_cat.h"
#include "server/service/calls/message_bytes.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using std::chrono::milliseconds;
using testing::DetailsOf;
using ::testing::HasSubstr;

// Longer than any test takes: a call that lasts so long was held where it should not have been.
constexpr std::chrono::seconds kHeld{20};

// A call of any method that sends nothing but what a test tells it to.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const std::string& token = "")
      : stub_(channel) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    context_.set_deadline(std::chrono::system_clock::now() + kHeld);
    call_ = stub_.PrepareCall(&context_, "/" + method, &queue_);
    call_->StartCall(this);
    Wait();
  }
  ~RawCall() {
    context_.TryCancel();
    if (call_) Finish();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) continue;
  }

  void Send(const google::protobuf::Message& message) {
    call_->Write(SerializeMessage(message), this);
    Wait();
  }
  // False when there are no more.
  bool Read() {
    grpc::ByteBuffer message;
    call_->Read(&message, this);
    return Wait();
  }
  grpc::Status Finish() {
    grpc::Status status;
    call_->Finish(&status, this);
    Wait();
    call_.reset();
    return status;
  }

 private:
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// Calls that send nothing.
class SilentCalls {
 public:
  SilentCalls(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, int count,
              const std::string& token)
      : stub_(channel) {
    for (int i = 0; i < count; ++i) {
      Open& open = *open_.emplace_back(std::make_unique<Open>());
      open.context.AddMetadata("authorization", "Bearer " + token);
      open.context.set_deadline(std::chrono::system_clock::now() + kHeld);
      open.call = stub_.PrepareCall(&open.context, "/" + method, &queue_);
      open.call->StartCall(nullptr);
      open.call->Finish(&open.status, &open);
    }
  }
  ~SilentCalls() {
    for (const std::unique_ptr<Open>& open : open_) open->context.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) continue;
  }

  // The status of the next one that ends.
  grpc::Status NextToEnd() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      if (tag != nullptr) return static_cast<Open*>(tag)->status;
    }
    return grpc::Status::OK;
  }

 private:
  struct Open {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
    grpc::Status status;
  };
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::vector<std::unique_ptr<Open>> open_;
};

std::string ReasonOf(const grpc::Status& status) {
  const auto details = DetailsOf(status);
  return details.info ? details.info->reason() : "";
}

class CallBoundsTest : public testing::KeptRuns {
 protected:
  CallBoundsTest()
      : tokens_(std::filesystem::path(::testing::TempDir()) / StrCat("callers-", getpid())) {
    std::ofstream(tokens_) << "a admin " << Sha256("token-a") << "\nb admin " << Sha256("token-b")
                           << "\n";
    access_ = *AccessControl::Open({.token_file = tokens_});
    server_ = std::make_unique<testing::RunningServer>(
        Server::Options{.access = access_.get(), .max_caller_percent = 50}, &store_);
  }
  ~CallBoundsTest() override { std::filesystem::remove(tokens_); }

  grpc::Status Ask(const std::string& method, const google::protobuf::Message& request,
                   const std::string& token) {
    RawCall call(server_->channel, method, token);
    call.Send(request);
    while (call.Read()) continue;
    return call.Finish();
  }

  const std::filesystem::path tokens_;
  std::unique_ptr<AccessControl> access_;
  std::unique_ptr<testing::RunningServer> server_;
};

struct Kind {
  const char* method;
  int part;  // half of what there is
};

class EveryKindOfWork : public CallBoundsTest, public ::testing::WithParamInterface<Kind> {};

TEST_P(EveryKindOfWork, LeavesRoomToOthersWhateverOneCallerHolds) {
  const std::string method = GetParam().method;
  SilentCalls held(server_->channel, method, GetParam().part + 1, "token-a");
  const grpc::Status refused = held.NextToEnd();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refused.error_message();
  EXPECT_EQ(ReasonOf(refused), "CALLER_LIMIT");
  const v1::GetRunRequest nameless;
  const grpc::Status other = Ask(method, nameless, "token-b");
  EXPECT_NE(other.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << other.error_message();
  EXPECT_NE(other.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << other.error_message();
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryKindOfWork,
                         ::testing::Values(Kind{"sinks.v1.RunService/StreamRecords", 32},
                                           Kind{"sinks.v1.RunService/SummarizeRuns", 32},
                                           Kind{"sinks.v1.RunService/ImportRecords", 32},
                                           Kind{"sinks.v1.RunService/GetRun", 128},
                                           Kind{"sinks.v1.ModelService/GetModel", 128},
                                           Kind{"sinks.v1.ModelService/PlanModel", 32},
                                           Kind{"sinks.v1.ModelService/LoadModel", 8},
                                           Kind{"sinks.v1.AuditService/AuditRuns", 16},
                                           Kind{"sinks.v1.ServerService/GetServerStatus", 32},
                                           Kind{"sinks.v1.AnalysisService/Analyze", 32},
                                           Kind{"sinks.v1.MechanismService/RunStudy", 32}),
                         [](const auto& one) {
                           const std::string method = one.param.method;
                           return method.substr(method.find('/') + 1);
                         });

TEST_F(CallBoundsTest, EveryMethodRefusesFromTheMetadataBeforeARequestComes) {
  for (const std::string& method : Server::Methods()) {
    RawCall without(server_->channel, method);
    const grpc::Status refused = without.Finish();
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    EXPECT_EQ(ReasonOf(refused), "TOKEN_MISSING") << method;
  }
}

TEST_F(CallBoundsTest, ACallThatIsClosedBeforeItsRequestIsToldWhatIsMissing) {
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(running_.channel);
  context.set_deadline(std::chrono::system_clock::now() + kHeld);
  const auto call = stub.PrepareCall(&context, "/sinks.v1.RunService/GetRun", &queue);
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(&context);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  call->WritesDone(&context);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  call->Finish(&status, &context);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(ReasonOf(status), "MESSAGE_MISSING") << status.error_message();
}

class CallTimesTest : public testing::KeptRuns {
 protected:
  testing::RunningServer server_{
      {.times = {.first_message = milliseconds(200), .write = milliseconds(500)}}, &store_};
};

TEST_F(CallTimesTest, ACallThatSendsNothingIsEnded) {
  for (const std::string& method : Server::Methods()) {
    RawCall silent(server_.channel, method);
    const grpc::Status ended = silent.Finish();
    EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << method;
    EXPECT_EQ(ReasonOf(ended), "FIRST_MESSAGE_LATE") << method;
  }
  RawCall health(server_.channel, "grpc.health.v1.Health/Watch");
  EXPECT_EQ(ReasonOf(health.Finish()), "FIRST_MESSAGE_LATE");
}

TEST_F(CallTimesTest, AnExportThatNobodyReadsIsEndedAndOneThatIsReadIsNot) {
  std::vector<v1::Sample> samples;
  for (int i = 0; i < 3; ++i) {  // of 100 KB each, since every '!' is a sink of about 50 bytes
    samples.push_back(testing::TextSample(std::string(2000, '!'), std::to_string(i)));
  }
  ASSERT_TRUE(Analyze(RunSpec("run"), samples).status.ok());
  v1::StreamRecordsRequest request;
  request.set_name("runs/run");
  // Of a connection that takes no more ahead than 64 KiB.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 16);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  RawCall unread(grpc::CreateCustomChannel(server_.server->address(),
                                           grpc::InsecureChannelCredentials(), arguments),
                 "sinks.v1.RunService/StreamRecords");
  unread.Send(request);
  RawCall read(server_.channel, "sinks.v1.RunService/StreamRecords");
  read.Send(request);
  while (read.Read()) continue;
  EXPECT_TRUE(read.Finish().ok());
  ASSERT_TRUE(server_.server->WaitUntilIdle(kHeld));
  while (unread.Read()) continue;  // what had come before its end
  const grpc::Status ended = unread.Finish();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(ended.error_message(), HasSubstr("did not read an answer within 500 ms"));
}

TEST_F(CallTimesTest, AStreamMayBeSilentOnceItsSpecCame) {
  testing::AnalyzeCall call(server_.channel);
  call.Open(testing::SpecFor());
  ASSERT_TRUE(call.ReadAnswer()->has_started());
  RawCall silent(server_.channel, "sinks.v1.RunService/GetRun");
  EXPECT_EQ(ReasonOf(silent.Finish()), "FIRST_MESSAGE_LATE");  // as long as that takes
  ASSERT_TRUE(call.Send(testing::TextSample("a!")));
  EXPECT_TRUE(call.ReadAnswer()->has_record());
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
}

TEST_F(CallTimesTest, AHealthRequestThatIsNoNameIsRefusedAndNotHeld) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(1 << 20, 'x'));
  for (const char* method : {"grpc.health.v1.Health/Watch", "grpc.health.v1.Health/Check"}) {
    RawCall call(server_.channel, method);
    call.Send(request);
    const grpc::Status refused = call.Finish();
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_EQ(ReasonOf(refused), "MESSAGE_TOO_LARGE");
  }
}

}  // namespace
}  // namespace sinkd
