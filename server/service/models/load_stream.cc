#include "server/service/models/load_stream.h"

#include <utility>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/models/codec_model.h"

namespace sinkd {
namespace {

constexpr char kMethod[] = "sinks.v1.ModelService/LoadModel";

}  // namespace

LoadStream* LoadStream::Begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
                              const Resources& resources) {
  const auto stream = std::make_shared<LoadStream>(context, resources);
  {
    const std::lock_guard lock(stream->mutex_);
    stream->self_ = stream;
    absl::Status started = stream->Start(request);
    if (!started.ok()) stream->End(std::move(started));
    stream->Pump();
  }
  stream->EndOnAbort();
  return stream.get();
}

LoadStream::LoadStream(grpc::CallbackServerContext* context, const Resources& resources)
    : resources_(resources),
      record_(*context, kMethod, resources.metrics),
      deadline_(DeadlineOf(*context)) {}

LoadStream::~LoadStream() = default;

absl::Status LoadStream::Start(const grpc::ByteBuffer& bytes) {
  SINKD_RETURN_IF_ERROR(record_.admitted());
  SINKD_ASSIGN_OR_RETURN(place_, resources_.admission.Enter());
  sinks::v1::LoadModelRequest request;
  if (!ParseMessage(bytes, request)) return MalformedMessage(*request.descriptor());
  SINKD_ASSIGN_OR_RETURN(id_, DecodeModelName(request.name(), "name"));
  SINKD_ASSIGN_OR_RETURN(const LoadOptions options,
                         DecodeLoadOptions(request, resources_.catalog.defaults()));
  SINKD_ASSIGN_OR_RETURN(slot_, resources_.loads.OpenStream(1));
  const auto pinned = request.has_pinned() ? std::optional<bool>(request.pinned()) : std::nullopt;
  const auto run = [self = shared_from_this(), options, pinned](const absl::Status& admitted) {
    if (admitted.ok()) return self->Load(options, pinned);
    const std::lock_guard lock(self->mutex_);
    self->End(admitted);
    self->Pump();
  };
  return slot_->Submit({.run = run, .stop = stop_.get_token(), .deadline = deadline_});
}

void LoadStream::Load(const LoadOptions& options, std::optional<bool> pinned) {
  const auto progress = [this](const LoadProgress& done) {
    const std::lock_guard lock(mutex_);
    next_.emplace();
    next_->set_bytes_done(done.bytes_done);
    next_->set_bytes_total(done.bytes_total);
    Pump();
  };
  const absl::StatusOr<ModelEntry> entry = Contained([&] {
    return resources_.catalog.Load(id_, options, progress, stop_.get_token(), pinned,
                                   record_.caller().name);
  });
  const std::lock_guard lock(mutex_);
  if (entry.ok()) {
    if (!next_) next_ = written_;  // the last message repeats the counts
    *next_->mutable_model() = EncodeModel(*entry);
    loaded_ = true;
  } else {
    End(entry.status());
  }
  Pump();
}

void LoadStream::EndOnAbort() {
  on_abort_.emplace(resources_.admission.abort_token(), [weak = weak_from_this()] {
    if (const std::shared_ptr<LoadStream> stream = weak.lock()) {
      const std::lock_guard lock(stream->mutex_);
      stream->End(ServerStopping());
      stream->Pump();
    }
  });
}

void LoadStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) End(Cancelled("the client went away"));
  Pump();
}

void LoadStream::OnCancel() {
  const std::lock_guard lock(mutex_);
  End(deadline_ <= Executor::Clock::now()
          ? absl::DeadlineExceededError("the deadline passed before the model was loaded")
          : Cancelled("the client went away"));
  Pump();
}

void LoadStream::OnDone() {
  std::shared_ptr<LoadStream> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  record_.End(*end_, {.model = id_});
  self = std::move(self_);
}

void LoadStream::End(absl::Status status) {
  if (end_) return;
  end_ = std::move(status);
  next_.reset();
  stop_.request_stop();
}

void LoadStream::Pump() {
  if (finished_ || writing_) return;
  if (next_ && !end_) {
    written_ = *std::move(next_);
    next_.reset();
    outgoing_ = SerializeMessage(written_);
    writing_ = true;
    StartWrite(&outgoing_);
    return;
  }
  if (loaded_) End(absl::OkStatus());
  if (!end_) return;
  finished_ = true;
  Finish(ToGrpcStatus(*end_));
}

}  // namespace sinkd
