#include "client/health_client.h"

#include "client/error_report.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace sinkd::client {

namespace health = ::grpc::health::v1;

absl::StatusOr<health::HealthCheckResponse> CheckHealth(
    const std::shared_ptr<grpc::Channel>& channel, const CallOptions& options) {
  ScopedCall call(options);
  health::HealthCheckResponse response;
  const absl::Status status =
      FromGrpcStatus(health::Health::NewStub(channel)->Check(call.context(), {}, &response));
  if (!status.ok()) return status;
  return response;
}

}  // namespace sinkd::client
