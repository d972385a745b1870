// PlanModel and ListFamilies over the wire.
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "running_server.h"
#include "server/engine/family_facts.h"
#include "sinks/v1/models.grpc.pb.h"

namespace sinkd {
namespace {

using testing::DetailsOf;
using testing::RunningServer;

class ModelPlansTest : public ::testing::Test {
 protected:
  static sinks::v1::PlanModelRequest Request(const std::string& name) {
    sinks::v1::PlanModelRequest request;
    request.set_name(name);
    return request;
  }
  grpc::Status Plan(const sinks::v1::PlanModelRequest& request) {
    grpc::ClientContext context;
    return stub_->PlanModel(&context, request, &response_);
  }
  // The field that the server says is wrong.
  std::string WrongField(const sinks::v1::PlanModelRequest& request) {
    const grpc::Status status = Plan(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const auto details = DetailsOf(status);
    return details.bad_request ? details.bad_request->field_violations(0).field() : "none";
  }

  RunningServer running_;
  std::unique_ptr<sinks::v1::ModelService::Stub> stub_ =
      sinks::v1::ModelService::NewStub(running_.channel);
  sinks::v1::PlanModelResponse response_;
};

TEST_F(ModelPlansTest, PlansALoadedModelAsAsked) {
  sinks::v1::PlanModelRequest request = Request("models/fake");
  request.set_device("auto");
  request.set_residency(sinks::v1::RESIDENCY_STREAMED);
  request.set_positions(100000);
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_EQ(response_.plan().name(), "models/fake");
  EXPECT_EQ(response_.plan().blocks(), testing::kLayers);
  EXPECT_EQ(response_.plan().residency(), sinks::v1::RESIDENCY_STREAMED);
  EXPECT_EQ(response_.plan().positions(), testing::kMaxPositions);
  EXPECT_EQ(response_.tensors_size(), testing::kPlannedTensors);
  EXPECT_FALSE(response_.has_next_page_token());
}

TEST_F(ModelPlansTest, GivesEveryTensorOnceOverItsPages) {
  sinks::v1::PlanModelRequest request = Request("models/fake");
  request.set_page_size(3);
  std::multiset<std::string> names;
  do {
    ASSERT_TRUE(Plan(request).ok());
    for (const auto& tensor : response_.tensors()) names.insert(tensor.name());
    request.set_page_token(response_.next_page_token());
  } while (response_.has_next_page_token());
  EXPECT_EQ(names, (std::multiset<std::string>{"t0", "t1", "t2", "t3", "t4", "t5", "t6"}));
}

TEST_F(ModelPlansTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(WrongField(Request("fake")), "name");
  sinks::v1::PlanModelRequest request = Request("models/fake");
  request.set_device("cuda:99");
  EXPECT_EQ(WrongField(request), "device");
  request = Request("models/fake");
  request.set_positions(0);
  EXPECT_EQ(WrongField(request), "positions");
  request = Request("models/fake");
  request.set_page_size(5001);
  EXPECT_EQ(WrongField(request), "page_size");
  request = Request("models/fake");
  request.set_page_token("t9");
  EXPECT_EQ(WrongField(request), "page_token");
  request = Request("models/fake");
  request.set_residency(static_cast<sinks::v1::Residency>(9));
  EXPECT_EQ(WrongField(request), "residency");
  EXPECT_EQ(Plan(Request("models/none")).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ModelPlansTest, PlansThatTakeLongStallNoQuery) {
  std::vector<std::thread> plans;
  for (int i = 0; i < 3; ++i) {
    plans.emplace_back([this] {
      grpc::ClientContext context;
      sinks::v1::PlanModelResponse response;
      EXPECT_TRUE(stub_->PlanModel(&context, Request("models/disk"), &response).ok());
    });
  }
  running_.catalog.plan_gate.WaitForArrivals(2);
  grpc::ClientContext context;
  sinks::v1::GetModelRequest request;
  sinks::v1::GetModelResponse response;
  request.set_name("models/fake");
  EXPECT_TRUE(stub_->GetModel(&context, request, &response).ok());
  running_.catalog.plan_gate.Open();
  for (std::thread& plan : plans) plan.join();
}

TEST_F(ModelPlansTest, ListsEveryFamilyInOneAnswer) {
  grpc::ClientContext context;
  sinks::v1::ListFamiliesResponse response;
  ASSERT_TRUE(stub_->ListFamilies(&context, {}, &response).ok());
  ASSERT_EQ(static_cast<size_t>(response.families_size()), AllFamilyFacts().size());
  std::set<std::string> names;
  for (const sinks::v1::Family& family : response.families()) names.insert(family.model_type());
  EXPECT_EQ(names.size(), AllFamilyFacts().size());
  EXPECT_TRUE(names.contains("llama"));
}

}  // namespace
}  // namespace sinkd
