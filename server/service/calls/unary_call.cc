#include "server/service/calls/unary_call.h"

#include <utility>

namespace sinkd {

UnaryCall::UnaryCall(grpc::CallbackServerContext* context, std::string_view method,
                     const CallResources& resources, Executor* threads, UnaryWork work)
    : Call(context, method, resources), threads_(*threads), work_(std::move(work)) {}

absl::Status UnaryCall::Start() {
  SINKD_ASSIGN_OR_RETURN(waiting_, threads_.OpenStream(1, AccountOf(caller(), Lane::kInteractive)));
  Read();
  return absl::OkStatus();
}

absl::Status UnaryCall::Received(grpc::ByteBuffer message) {
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  Queue(*waiting_, [this, message = std::move(message)]() -> absl::Status {
    record().Begun();
    SINKD_ASSIGN_OR_RETURN(grpc::ByteBuffer answer, work_(message, stop()));
    const std::lock_guard answering(mutex_);
    EndWith(std::move(answer));
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

}  // namespace sinkd
