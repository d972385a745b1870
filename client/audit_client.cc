#include "client/audit_client.h"

#include <utility>

namespace sinkd::client {

namespace v1 = ::sinks::v1;

AuditClient::AuditClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry)
    : stub_(v1::AuditService::NewStub(std::move(channel))), retry_(std::move(retry)) {}

absl::StatusOr<v1::AuditRunsResponse> AuditClient::Audit(const v1::AuditRunsRequest& request,
                                                         const CallOptions& options) const {
  v1::AuditRunsResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->AuditRuns(context, request, &response);
  });
  if (!status.ok()) return status;
  return response;
}

}  // namespace sinkd::client
