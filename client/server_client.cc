#include "client/server_client.h"

#include <utility>

namespace sinkd::client {
namespace v1 = ::sinks::v1;

ServerClient::ServerClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry)
    : stub_(v1::ServerService::NewStub(std::move(channel))), retry_(std::move(retry)) {}

absl::StatusOr<v1::ServerStatus> ServerClient::GetStatus(const CallOptions& options) const {
  v1::GetServerStatusResponse response;
  const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
    return stub_->GetServerStatus(context, {}, &response);
  });
  if (!status.ok()) return status;
  return std::move(*response.mutable_status());
}

}  // namespace sinkd::client
