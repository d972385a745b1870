// ServeUnary: one unary call, done on a thread that may wait, with its log line and metrics.
//
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/scheduler/executor.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/call_record.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {

// Where calls wait for a thread, and who counts them; borrowed.
struct UnaryPlace {
  Executor::Stream& waiting;
  Metrics& metrics;
};

// Deletes itself when the call is over.
class UnaryReactor final : public grpc::ServerUnaryReactor {
 public:
  std::stop_token token() const { return stop_.get_token(); }

  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { delete this; }

 private:
  std::stop_source stop_;
};

// Does `work` on a thread that takes from `place.waiting`; what still waits when the caller is gone
// is dropped, and `stop` is set for what runs. `bytes` and `answer` live as long as the call;
// `method` is the full name, borrowed for good.
template <typename Request, typename Response>
grpc::ServerUnaryReactor* ServeUnary(
    const UnaryPlace& place, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* bytes, grpc::ByteBuffer* answer,
    std::function<absl::StatusOr<Response>(const Request& request, std::stop_token stop)> work) {
  auto* const reactor = new UnaryReactor;
  auto record = std::make_shared<CallRecord>(*context, method, place.metrics);
  const std::stop_token stop = reactor->token();
  const auto answered = [bytes, answer, stop, work = std::move(work)]() -> absl::Status {
    Request request;
    if (!ParseMessage(*bytes, request)) return MalformedMessage(*request.descriptor());
    SINKD_ASSIGN_OR_RETURN(const Response response, work(request, stop));
    *answer = SerializeMessage(response);
    return absl::OkStatus();
  };
  const auto run = [reactor, record, answered](const absl::Status& admitted) {
    if (admitted.ok()) record->Begun();
    const absl::Status status = admitted.ok() ? Contained(answered) : admitted;
    record->End(status);
    reactor->Finish(ToGrpcStatus(status));
  };
  const absl::Status submitted =
      record->admitted().ok()
          ? place.waiting.Submit({.run = run, .stop = stop, .deadline = DeadlineOf(*context)})
          : record->admitted();
  if (!submitted.ok()) run(submitted);
  return reactor;
}

// The same for work too short to be stopped.
template <typename Request, typename Response>
grpc::ServerUnaryReactor* ServeUnary(
    const UnaryPlace& place, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* bytes, grpc::ByteBuffer* answer,
    std::function<absl::StatusOr<Response>(const Request& request)> work) {
  return ServeUnary<Request, Response>(
      place, context, method, bytes, answer,
      std::function<absl::StatusOr<Response>(const Request& request, std::stop_token stop)>(
          [work = std::move(work)](const Request& request, const std::stop_token&) {
            return work(request);
          }));
}

}  // namespace sinkd
