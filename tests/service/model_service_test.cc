#include "server/service/models/model_service.h"

#include <thread>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "running_server.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd {
namespace {

using testing::DetailsOf;
using testing::RunningServer;

class ModelServiceTest : public ::testing::Test {
 protected:
  static sinks::v1::LoadModelRequest Load(const std::string& name) {
    sinks::v1::LoadModelRequest request;
    request.set_name(name);
    return request;
  }

  RunningServer running_;
  std::unique_ptr<sinks::v1::ModelService::Stub> stub_ =
      sinks::v1::ModelService::NewStub(running_.channel);
  grpc::ClientContext context_;
};

TEST_F(ModelServiceTest, GetsAModel) {
  sinks::v1::GetModelRequest request;
  sinks::v1::GetModelResponse response;
  request.set_name("models/fake");
  context_.AddMetadata("x-request-id", "abc");
  ASSERT_TRUE(stub_->GetModel(&context_, request, &response).ok());
  EXPECT_EQ(response.model().name(), "models/fake");
  EXPECT_EQ(response.model().state(), sinks::v1::MODEL_STATE_READY);
  EXPECT_EQ(response.model().blocks(), testing::kLayers);
  EXPECT_EQ(context_.GetServerInitialMetadata().find("x-request-id")->second, "abc");
}

TEST_F(ModelServiceTest, SaysNotFoundAndNamesTheModel) {
  sinks::v1::GetModelRequest request;
  sinks::v1::GetModelResponse response;
  request.set_name("models/none");
  const grpc::Status status = stub_->GetModel(&context_, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(status).resource->resource_type(), "models");
  EXPECT_EQ(DetailsOf(status).resource->resource_name(), "models/none");
}

TEST_F(ModelServiceTest, RefusesAPathForAName) {
  sinks::v1::GetModelRequest request;
  sinks::v1::GetModelResponse response;
  request.set_name("models/../../etc");
  const grpc::Status status = stub_->GetModel(&context_, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(status).bad_request->field_violations(0).field(), "name");
}

TEST_F(ModelServiceTest, ListsInPages) {
  sinks::v1::ListModelsRequest request;
  request.set_page_size(2);
  sinks::v1::ListModelsResponse first, second;
  ASSERT_TRUE(stub_->ListModels(&context_, request, &first).ok());
  ASSERT_EQ(first.models_size(), 2);
  EXPECT_EQ(first.models(0).name(), "models/broken");
  request.set_page_token(first.next_page_token());
  grpc::ClientContext next;
  ASSERT_TRUE(stub_->ListModels(&next, request, &second).ok());
  ASSERT_EQ(second.models_size(), 1);
  EXPECT_EQ(second.models(0).name(), "models/fake");
  EXPECT_FALSE(second.has_next_page_token());
}

TEST_F(ModelServiceTest, RefusesPageSizesAndTokensThatAreNone) {
  for (const int size : {0, -1, 1001}) {
    sinks::v1::ListModelsRequest request;
    request.set_page_size(size);
    EXPECT_EQ(PageOfModels(request, {}).status().code(), absl::StatusCode::kInvalidArgument);
  }
  sinks::v1::ListModelsRequest request;
  request.set_page_token("../x");
  EXPECT_EQ(PageOfModels(request, {}).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_page_token("zzz");
  EXPECT_EQ(PageOfModels(request, running_.catalog.List())->models_size(), 0);
}

TEST_F(ModelServiceTest, LoadStreamsProgressAndTheReadyModelLast) {
  sinks::v1::LoadModelRequest request = Load("models/disk");
  request.set_residency(sinks::v1::RESIDENCY_STREAMED);
  const auto reader = stub_->LoadModel(&context_, request);
  sinks::v1::LoadModelResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.bytes_done(), 50);
  EXPECT_EQ(response.bytes_total(), 100);
  EXPECT_FALSE(response.has_model());
  running_.catalog.load_gate.Open();
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(response.model().state(), sinks::v1::MODEL_STATE_READY);
  EXPECT_EQ(response.model().device(), "cpu");
  EXPECT_EQ(response.model().residency(), sinks::v1::RESIDENCY_STREAMED);
  EXPECT_EQ(response.bytes_done(), 100);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ModelServiceTest, ACancelledLoadIsAbandoned) {
  const auto reader = stub_->LoadModel(&context_, Load("models/disk"));
  running_.catalog.load_gate.WaitForArrivals(1);
  context_.TryCancel();
  running_.catalog.load_gate.WaitForStopped(1);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ModelServiceTest, ALoadThatFailsSaysWhy) {
  const auto reader = stub_->LoadModel(&context_, Load("models/broken"));
  sinks::v1::LoadModelResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailsOf(status).precondition->violations(0).type(), "CHECKPOINT_INVALID");
}

TEST_F(ModelServiceTest, RefusesLoadsWhileTheServerStops) {
  running_.server->Close();
  const auto reader = stub_->LoadModel(&context_, Load("models/disk"));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(DetailsOf(status).retry);
}

TEST_F(ModelServiceTest, StoppingEndsARunningLoad) {
  const auto reader = stub_->LoadModel(&context_, Load("models/disk"));
  running_.catalog.load_gate.WaitForArrivals(1);
  std::thread stop([this] { running_.server->Stop(); });
  sinks::v1::LoadModelResponse response;
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  running_.catalog.load_gate.WaitForStopped(1);
  stop.join();
}

TEST_F(ModelServiceTest, UnloadsWhatIsLoadedOnly) {
  sinks::v1::UnloadModelRequest request;
  sinks::v1::UnloadModelResponse response;
  request.set_name("models/fake");
  ASSERT_TRUE(stub_->UnloadModel(&context_, request, &response).ok());
  EXPECT_EQ(response.model().state(), sinks::v1::MODEL_STATE_UNLOADING);
  grpc::ClientContext again;
  request.set_name("models/disk");
  const grpc::Status status = stub_->UnloadModel(&again, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace sinkd
