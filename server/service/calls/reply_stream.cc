#include "server/service/calls/reply_stream.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd {

ReplyStream::ReplyStream(grpc::CallbackServerContext* context, std::string_view method,
                         const CallResources& resources, Executor* threads, Open open)
    : Call(context, method, resources), threads_(*threads), open_(std::move(open)) {}

absl::Status ReplyStream::Start() {
  SINKD_ASSIGN_OR_RETURN(place_, calls().admission.Enter());
  SINKD_ASSIGN_OR_RETURN(waiting_, threads_.OpenStream(1, AccountOf(caller(), Lane::kInteractive)));
  Read();
  return absl::OkStatus();
}

absl::Status ReplyStream::Received(grpc::ByteBuffer message) {
  const std::lock_guard lock(mutex_);
  request_ = std::move(message);
  return absl::OkStatus();
}

void ReplyStream::Advance() {
  if (!request_ || making_ || writing()) return;
  making_ = true;
  Queue(*waiting_, [this] { return Make(); });
}

absl::Status ReplyStream::Make() {
  absl::StatusOr<std::optional<grpc::ByteBuffer>> message = Next();
  SINKD_RETURN_IF_ERROR(message.status());
  const std::lock_guard lock(mutex_);
  making_ = false;
  if (ended()) return absl::OkStatus();
  if (message->has_value()) {
    Write(**std::move(message));
  } else {
    End(absl::OkStatus());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<grpc::ByteBuffer>> ReplyStream::Next() {
  if (!source_) {
    SINKD_ASSIGN_OR_RETURN(source_, open_(*request_));
  }
  return source_->Next(stop());
}

}  // namespace sinkd
