// ServerClient: sinks.v1.ServerService with retries and error details.
//
// Errors: as in client/model_client.h. Thread-safety: const methods may be called from any thread.
#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/server.grpc.pb.h"

namespace sinkd::client {

class ServerClient {
 public:
  explicit ServerClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {});

  absl::StatusOr<sinks::v1::ServerStatus> GetStatus(const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::ServerService::StubInterface> stub_;
  RetryPolicy retry_;
};

}  // namespace sinkd::client
