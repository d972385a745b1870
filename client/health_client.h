// Asks a server whether it serves, by the standard grpc.health.v1 protocol.
//
// Thread-safety: free functions; may be called from any thread.
#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "grpc/health/v1/health.pb.h"

namespace sinkd::client {

// The state of the server as a whole. One call, never repeated: a probe asks again by itself.
absl::StatusOr<grpc::health::v1::HealthCheckResponse> CheckHealth(
    const std::shared_ptr<grpc::Channel>& channel, const CallOptions& options);

}  // namespace sinkd::client
