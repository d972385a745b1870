// Checks the health of a server with the standard protocol grpc.health.v1.
//
// Thread-safety: free functions; may be called from any thread.
#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "grpc/health/v1/health.pb.h"

namespace sinkd::client {

// Returns the health of the whole server. Not retried, because a probe repeats the check itself.
absl::StatusOr<grpc::health::v1::HealthCheckResponse> CheckHealth(
    const std::shared_ptr<grpc::Channel>& channel, const CallOptions& options);

}  // namespace sinkd::client
