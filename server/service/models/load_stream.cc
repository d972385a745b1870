#include "server/service/models/load_stream.h"

#include <utility>

#include "server/base/status.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/models/codec_model.h"

namespace sinkd {

LoadStream::LoadStream(grpc::CallbackServerContext* context, std::string_view method,
                       const CallResources& resources, Executor* loads, ModelCatalog* catalog)
    : Call(context, method, resources), loads_(*loads), catalog_(*catalog) {}

absl::Status LoadStream::Start() {
  SINKD_ASSIGN_OR_RETURN(place_, calls().admission.Enter());
  SINKD_ASSIGN_OR_RETURN(slot_, loads_.OpenStream(1, AccountOf(caller(), Lane::kInteractive)));
  Read();
  return absl::OkStatus();
}

absl::Status LoadStream::Received(grpc::ByteBuffer message) {
  sinks::v1::LoadModelRequest request;
  if (!ParseMessage(message, request)) return MalformedMessage(*request.descriptor());
  SINKD_ASSIGN_OR_RETURN(std::string id, DecodeModelName(request.name(), "name"));
  SINKD_ASSIGN_OR_RETURN(const LoadOptions options,
                         DecodeLoadOptions(request, catalog_.defaults()));
  const auto pinned = request.has_pinned() ? std::optional<bool>(request.pinned()) : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  id_ = std::move(id);
  Queue(*slot_, [this, options, pinned] { return Load(options, pinned); });
  return absl::OkStatus();
}

absl::Status LoadStream::Load(const LoadOptions& options, std::optional<bool> pinned) {
  const auto progress = [this](const LoadProgress& done) {
    const std::lock_guard lock(mutex_);
    next_.emplace();
    next_->set_bytes_done(done.bytes_done);
    next_->set_bytes_total(done.bytes_total);
    Pump();
  };
  SINKD_ASSIGN_OR_RETURN(const ModelEntry entry,
                         catalog_.Load(id_, options, progress, stop(), pinned, caller().name));
  const std::lock_guard lock(mutex_);
  if (!next_) next_ = written_;  // the last message repeats the counts
  *next_->mutable_model() = EncodeModel(entry);
  loaded_ = true;
  return absl::OkStatus();
}

void LoadStream::Advance() {
  if (writing()) return;
  if (next_) {
    written_ = *std::exchange(next_, std::nullopt);
    Write(SerializeMessage(written_));
  } else if (loaded_) {
    End(absl::OkStatus());
  }
}

}  // namespace sinkd
