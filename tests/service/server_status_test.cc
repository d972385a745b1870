// GetServerStatus over the wire, of a server over a fake catalog.
#include <latch>
#include <string>

#include <google/protobuf/util/time_util.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "running_server.h"
#include "sinks/v1/analysis.grpc.pb.h"
#include "sinks/v1/server.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = sinks::v1;
using testing::RunningServer;

v1::ServerStatus GetStatus(RunningServer& running) {
  grpc::ClientContext context;
  v1::GetServerStatusResponse response;
  const grpc::Status status =
      v1::ServerService::NewStub(running.channel)->GetServerStatus(&context, {}, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.status();
}

// An Analyze stream with one sample under way.
class OneSample {
 public:
  OneSample(RunningServer& running, v1::Lane lane)
      : stub_(v1::AnalysisService::NewStub(running.channel)), stream_(stub_->Analyze(&context_)) {
    v1::AnalyzeRequest request;
    request.mutable_spec()->set_model("models/fake");
    request.mutable_spec()->set_lane(lane);
    EXPECT_TRUE(stream_->Write(request));
    request.mutable_sample()->mutable_token_ids()->add_ids(1);
    EXPECT_TRUE(stream_->Write(request));
    stream_->WritesDone();
  }

  grpc::Status Finish() {
    v1::AnalyzeResponse response;
    while (stream_->Read(&response)) {
    }
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::AnalysisService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AnalyzeRequest, v1::AnalyzeResponse>> stream_;
};

TEST(ServerStatus, TellsOfAnIdleServer) {
  RunningServer running({.max_streams = 7, .limits = {.version = "1.2.3"}});
  running.catalog.memory = {{.device = "cpu",
                             .budget_bytes = 100,
                             .weight_bytes = 40,
                             .loading_bytes = 30,
                             .running_bytes = 20}};
  const v1::ServerStatus before = GetStatus(running);
  EXPECT_EQ(before.version(), "1.2.3");
  EXPECT_TRUE(before.serving());
  EXPECT_EQ(before.streams(), 0);
  EXPECT_EQ(before.max_streams(), 7);
  EXPECT_GT(before.resident_bytes(), 0);
  ASSERT_EQ(before.models_size(), 1);  // what is on disk alone is not told of
  EXPECT_EQ(before.models(0).name(), "models/fake");
  ASSERT_EQ(before.devices_size(), 1);
  EXPECT_EQ(before.devices(0).name(), "cpu");
  EXPECT_EQ(before.devices(0).budget_bytes(), 100);
  EXPECT_EQ(before.devices(0).weight_bytes(), 40);
  EXPECT_EQ(before.devices(0).loading_bytes(), 30);
  EXPECT_EQ(before.devices(0).running_bytes(), 20);

  running.server->SetServing(false);
  const v1::ServerStatus after = GetStatus(running);
  EXPECT_FALSE(after.serving());
  EXPECT_TRUE(before.start_time() == after.start_time());
  EXPECT_TRUE(before.time() < after.time());
}

TEST(ServerStatus, TellsWhoWorksAndWhatWasDone) {
  RunningServer running;
  std::latch begun{1}, seen{1};
  running.catalog.runner->before_run = [&](const TokenIds&, std::stop_token) {
    begun.count_down();
    seen.wait();
    return absl::OkStatus();
  };
  OneSample sample(running, v1::LANE_BATCH);
  begun.wait();
  const v1::ServerStatus during = GetStatus(running);
  seen.count_down();
  EXPECT_TRUE(sample.Finish().ok());
  EXPECT_EQ(during.streams(), 1);
  ASSERT_EQ(during.devices_size(), 1);
  const v1::DeviceStatus& device = during.devices(0);
  ASSERT_EQ(device.running_size(), 1);
  EXPECT_EQ(device.running(0).lane(), v1::LANE_BATCH);
  ASSERT_EQ(device.callers_size(), 1);
  EXPECT_EQ(device.callers(0).caller(), device.running(0).caller());
  EXPECT_EQ(device.callers(0).streams(), 1);
  EXPECT_EQ(during.counts().samples_ok(), 0);

  v1::ServerStatus after = GetStatus(running);
  EXPECT_EQ(after.counts().samples_ok(), 1);
  EXPECT_EQ(after.counts().tokens(), 1);
  EXPECT_EQ(after.counts().records_sent(), 1);
  EXPECT_EQ(after.waiting_samples(), 0);
  EXPECT_GE(after.devices(0).busy_seconds(), during.devices(0).running(0).seconds());
}

}  // namespace
}  // namespace sinkd
