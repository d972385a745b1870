// AuditClient: sinks.v1.AuditService with retries and error details.
//
// Errors: those of the server, with details (client/error_report.h); UNAVAILABLE without details if
// it cannot be reached; DEADLINE_EXCEEDED and CANCELLED according to the options.
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "sinks/v1/audit.grpc.pb.h"

namespace sinkd::client {

class AuditClient {
 public:
  explicit AuditClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {});

  absl::StatusOr<sinks::v1::AuditRunsResponse> Audit(const sinks::v1::AuditRunsRequest& request,
                                                     const CallOptions& options) const;

 private:
  std::unique_ptr<sinks::v1::AuditService::StubInterface> stub_;
  RetryPolicy retry_;
};

}  // namespace sinkd::client
