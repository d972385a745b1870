#include "server/service/calls/reply_stream.h"

#include <utility>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {

ReplyStream* ReplyStream::Begin(grpc::CallbackServerContext* context, std::string_view method,
                                const grpc::ByteBuffer& request, const Resources& resources,
                                Open open) {
  const auto stream =
      std::make_shared<ReplyStream>(context, method, request, resources, std::move(open));
  {
    const std::lock_guard lock(stream->mutex_);
    stream->self_ = stream;
    if (absl::Status status = stream->Start(); !status.ok()) stream->End(std::move(status));
  }
  stream->on_abort_.emplace(resources.admission.abort_token(),
                            [stop = stream->stop_]() mutable { stop.request_stop(); });
  return stream.get();
}

ReplyStream::ReplyStream(grpc::CallbackServerContext* context, std::string_view method,
                         const grpc::ByteBuffer& request, const Resources& resources, Open open)
    : record_(*context, method, resources.metrics),
      request_(request),
      resources_(resources),
      deadline_(DeadlineOf(*context)),
      open_(std::move(open)) {}

absl::Status ReplyStream::Start() {
  SINKD_RETURN_IF_ERROR(record_.admitted());
  SINKD_ASSIGN_OR_RETURN(place_, resources_.admission.Enter());
  SINKD_ASSIGN_OR_RETURN(waiting_, resources_.threads.OpenStream(1));
  MakeNext();
  return absl::OkStatus();
}

void ReplyStream::MakeNext() {
  const auto run = [self = shared_from_this()](const absl::Status& admitted) {
    if (admitted.ok()) return self->Make();
    const std::lock_guard lock(self->mutex_);
    self->End(admitted);
  };
  const absl::Status submitted =
      waiting_->Submit({.run = run, .stop = stop_.get_token(), .deadline = deadline_});
  if (!submitted.ok()) End(submitted);
}

void ReplyStream::Make() {
  absl::StatusOr<std::optional<grpc::ByteBuffer>> message =
      Contained([this] { return NextMessage(); });
  const std::lock_guard lock(mutex_);
  if (end_) return;
  if (!message.ok()) return End(message.status());
  if (!message->has_value()) return End(absl::OkStatus());
  outgoing_ = **std::move(message);
  StartWrite(&outgoing_);
}

absl::StatusOr<std::optional<grpc::ByteBuffer>> ReplyStream::NextMessage() {
  if (!source_) {
    SINKD_ASSIGN_OR_RETURN(source_, open_(request_));
  }
  return source_->Next(stop_.get_token());
}

void ReplyStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  if (!ok) End(Cancelled("the client went away"));
  if (!end_) MakeNext();
}

void ReplyStream::OnCancel() {
  stop_.request_stop();  // the job under way, or the next one, ends the call
}

void ReplyStream::OnDone() {
  std::shared_ptr<ReplyStream> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  record_.End(*end_);
  place_.reset();
  self = std::move(self_);
}

void ReplyStream::End(absl::Status status) {
  if (end_) return;
  const bool aborted = resources_.admission.abort_token().stop_requested();
  end_ = aborted && absl::IsCancelled(status) ? ServerStopping() : std::move(status);
  Finish(ToGrpcStatus(*end_));
}

}  // namespace sinkd
