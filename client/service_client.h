// ServiceClient: the calls of one service, with retries and error details. ModelClient and
// RunClient add names, paging and whole streams; for the other services it is enough:
//
//   ServiceClient<v1::AuditService>(channel).Call(&v1::AuditService::StubInterface::AuditRuns,
//                                                 request, options);
//
// Errors: those of the server, with details (client/error_report.h); UNAVAILABLE without details if
// it cannot be reached; DEADLINE_EXCEEDED and CANCELLED according to the options.
// Thread-safety: const methods may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/sync_stream.h>

#include "client/call.h"
#include "client/error_report.h"

namespace sinkd::client {

// Passes every message of a server's stream to `visit`. Its error cancels the call and is returned;
// otherwise the server's is.
template <typename Response, typename Reader, typename Visit>
absl::Status ReadStream(ScopedCall& call, Reader& reader, const Visit& visit) {
  absl::Status own;
  Response response;
  while (own.ok() && reader.Read(&response)) own = visit(response);
  if (!own.ok()) {
    call.context()->TryCancel();
    while (reader.Read(&response)) {
    }
  }
  const absl::Status server = FromGrpcStatus(reader.Finish());
  return own.ok() ? server : own;
}

// "models/a" for both "a" and "models/a" where `prefix` is "models/".
inline std::string WithPrefix(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) ? std::string(name) : std::string(prefix).append(name);
}

template <typename Service>
class ServiceClient {
 public:
  using Stub = typename Service::StubInterface;
  template <typename Request, typename Response>
  using Unary = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);
  template <typename Request, typename Response>
  using ServerStream = std::unique_ptr<grpc::ClientReaderInterface<Response>> (Stub::*)(
      grpc::ClientContext*, const Request&);

  explicit ServiceClient(std::shared_ptr<grpc::Channel> channel, RetryPolicy retry = {})
      : stub_(Service::NewStub(std::move(channel))), retry_(std::move(retry)) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Unary<Request, Response> method, const Request& request,
                                const CallOptions& options) const {
    Response response;
    const absl::Status status = CallWithRetry(retry_, options, [&](grpc::ClientContext* context) {
      return (*stub_.*method)(context, request, &response);
    });
    if (!status.ok()) return status;
    return response;
  }

  // Passes page after page of a list to `visit`.
  template <typename Request, typename Response, typename Visit>
  absl::Status CallPages(Unary<Request, Response> method, Request request,
                         const CallOptions& options, const Visit& visit) const {
    while (true) {
      const absl::StatusOr<Response> page = Call(method, request, options);
      if (!page.ok()) return page.status();
      visit(*page);
      const std::string& next = page->next_page_token();
      if (next.empty()) return absl::OkStatus();
      if (next == request.page_token()) {
        return absl::InternalError("the server's list does not advance");
      }
      request.set_page_token(next);
    }
  }

  // Not retried. An error from `visit` cancels the call, and is returned.
  template <typename Request, typename Response, typename Visit>
  absl::Status CallStream(ServerStream<Request, Response> method, const Request& request,
                          const CallOptions& options, const Visit& visit) const {
    ScopedCall call(options);
    const auto reader = (*stub_.*method)(call.context(), request);
    return ReadStream<Response>(call, *reader, visit);
  }

 protected:
  const std::unique_ptr<Stub> stub_;

 private:
  RetryPolicy retry_;
};

}  // namespace sinkd::client
