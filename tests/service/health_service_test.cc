#include "server/service/health_service.h"

#include <thread>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "running_server.h"

namespace sinkd {
namespace {

namespace health = grpc::health::v1;
using testing::RunningServer;

class HealthTest : public ::testing::Test {
 protected:
  grpc::Status Check(const std::string& service) {
    grpc::ClientContext context;
    health::HealthCheckRequest request;
    request.set_service(service);
    return stub_->Check(&context, request, &response_);
  }

  RunningServer running_;
  std::unique_ptr<health::Health::Stub> stub_ = health::Health::NewStub(running_.channel);
  health::HealthCheckResponse response_;
};

TEST_F(HealthTest, AnswersForTheServerAndForEveryService) {
  for (const char* service : {"", "sinks.v1.AnalysisService", "sinks.v1.ModelService"}) {
    running_.server->SetServing(false);
    ASSERT_TRUE(Check(service).ok());
    EXPECT_EQ(response_.status(), health::HealthCheckResponse::NOT_SERVING) << service;
    running_.server->SetServing(true);
    ASSERT_TRUE(Check(service).ok());
    EXPECT_EQ(response_.status(), health::HealthCheckResponse::SERVING) << service;
  }
}

TEST_F(HealthTest, DoesNotKnowAForeignService) {
  const grpc::Status status = Check("other.Service");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(testing::DetailsOf(status).resource);
}

TEST_F(HealthTest, StartsAsNotServing) {
  testing::FakeCatalog catalog;
  Metrics metrics("test", Server::Methods());
  const auto server = Server::Start({}, catalog, metrics);
  ASSERT_TRUE(server.ok());
  stub_ = health::Health::NewStub(
      grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials()));
  ASSERT_TRUE(Check("").ok());
  EXPECT_EQ(response_.status(), health::HealthCheckResponse::NOT_SERVING);
}

TEST_F(HealthTest, AWatchIsToldOfEveryChangeAndEndsWhenTheServerStops) {
  grpc::ClientContext context;
  const auto watch = stub_->Watch(&context, {});
  ASSERT_TRUE(watch->Read(&response_));
  EXPECT_EQ(response_.status(), health::HealthCheckResponse::SERVING);
  running_.server->SetServing(false);
  ASSERT_TRUE(watch->Read(&response_));
  EXPECT_EQ(response_.status(), health::HealthCheckResponse::NOT_SERVING);
  std::thread stop([this] { running_.server->Stop(); });
  EXPECT_FALSE(watch->Read(&response_));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  stop.join();
}

TEST_F(HealthTest, AWatchOfAForeignServiceStaysOpen) {
  grpc::ClientContext context;
  health::HealthCheckRequest request;
  request.set_service("other.Service");
  const auto watch = stub_->Watch(&context, request);
  ASSERT_TRUE(watch->Read(&response_));
  EXPECT_EQ(response_.status(), health::HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace sinkd
