#include "server/service/runs/import_stream.h"

#include <utility>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {

ImportStream* ImportStream::Begin(grpc::CallbackServerContext* context, std::string_view method,
                                  grpc::ByteBuffer* response, const Resources& resources,
                                  absl::StatusOr<RunStore*> store,
                                  const std::string& template_date) {
  const auto stream = std::make_shared<ImportStream>(context, method, response, resources);
  {
    const std::lock_guard lock(stream->mutex_);
    stream->self_ = stream;
    absl::Status started = stream->Start(store, template_date);
    if (!started.ok()) stream->End(std::move(started));
  }
  // A read that waits for its client ends with the context.
  stream->on_abort_.emplace(resources.admission.abort_token(),
                            [context, stop = stream->stop_]() mutable {
                              stop.request_stop();
                              context->TryCancel();
                            });
  return stream.get();
}

ImportStream::ImportStream(grpc::CallbackServerContext* context, std::string_view method,
                           grpc::ByteBuffer* response, const Resources& resources)
    : context_(*context),
      record_(*context, method, resources.metrics),
      resources_(resources),
      deadline_(DeadlineOf(*context)),
      response_(response) {}

absl::Status ImportStream::Start(const absl::StatusOr<RunStore*>& store,
                                 const std::string& template_date) {
  SINKD_RETURN_IF_ERROR(record_.admitted());
  SINKD_RETURN_IF_ERROR(store.status());
  SINKD_ASSIGN_OR_RETURN(place_, resources_.admission.Enter());
  SINKD_ASSIGN_OR_RETURN(waiting_, resources_.threads.OpenStream(1));
  import_.emplace(**store, template_date);
  StartRead(&incoming_);
  return absl::OkStatus();
}

void ImportStream::OnReadDone(bool ok) {
  const auto run = [self = shared_from_this(), ok](const absl::Status& admitted) {
    if (admitted.ok()) return self->Take(ok);
    const std::lock_guard lock(self->mutex_);
    self->End(admitted);
  };
  const absl::Status submitted =
      waiting_->Submit({.run = run, .stop = stop_.get_token(), .deadline = deadline_});
  if (submitted.ok()) return;
  const std::lock_guard lock(mutex_);
  End(submitted);
}

void ImportStream::Take(bool ok) {
  absl::Status status = Contained([this, ok] { return ok ? Store() : Answer(); });
  const std::lock_guard lock(mutex_);
  if (!ok || !status.ok()) return End(std::move(status));
  StartRead(&incoming_);
}

absl::Status ImportStream::Store() {
  sinks::v1::ImportRecordsRequest request;
  const bool parsed = ParseMessage(incoming_, request);
  incoming_.Clear();
  if (!parsed) return MalformedMessage(*request.descriptor());
  return import_->Take(std::move(request));
}

absl::Status ImportStream::Answer() {
  // A client that went away did not say that this was all.
  if (stop_.stop_requested() || context_.IsCancelled()) return Cancelled("the client went away");
  SINKD_ASSIGN_OR_RETURN(const sinks::v1::ImportRecordsResponse response, import_->Finish());
  *response_ = SerializeMessage(response);
  return absl::OkStatus();
}

void ImportStream::End(absl::Status status) {
  if (end_) return;
  const bool aborted = resources_.admission.abort_token().stop_requested();
  end_ = aborted && absl::IsCancelled(status) ? ServerStopping() : std::move(status);
  Finish(ToGrpcStatus(*end_));
}

void ImportStream::OnDone() {
  on_abort_.reset();                   // the context is about to go
  std::shared_ptr<ImportStream> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  record_.End(*end_);
  place_.reset();
  self = std::move(self_);
}

}  // namespace sinkd
