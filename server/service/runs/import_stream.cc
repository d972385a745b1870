#include "server/service/runs/import_stream.h"

#include <utility>

#include "server/base/status.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/runs/run_samples.h"

namespace sinkd {

ImportStream::ImportStream(grpc::CallbackServerContext* context, std::string_view method,
                           const CallResources& resources, Executor* threads, RunStore* store,
                           std::string template_date)
    : Call(context, method, resources),
      threads_(*threads),
      store_(store),
      template_date_(std::move(template_date)) {}

absl::Status ImportStream::Start() {
  if (store_ == nullptr) return StoreOff();
  SINKD_ASSIGN_OR_RETURN(place_, calls().admission.Enter());
  SINKD_ASSIGN_OR_RETURN(waiting_, threads_.OpenStream(1, AccountOf(caller(), Lane::kBatch)));
  import_.emplace(*store_, template_date_);
  Read();
  return absl::OkStatus();
}

absl::Status ImportStream::Received(grpc::ByteBuffer message) {
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  Queue(*waiting_, [this, message = std::move(message)] { return Store(message); });
  return absl::OkStatus();
}

absl::Status ImportStream::HalfClosed() {
  Queue(*waiting_, [this] { return Answer(); });
  return absl::OkStatus();
}

absl::Status ImportStream::Store(const grpc::ByteBuffer& message) {
  sinks::v1::ImportRecordsRequest request;
  if (!ParseMessage(message, request)) return MalformedMessage(*request.descriptor());
  SINKD_RETURN_IF_ERROR(import_->Take(std::move(request)));
  const std::lock_guard lock(mutex_);
  if (!ended()) Read();
  return absl::OkStatus();
}

absl::Status ImportStream::Answer() {
  // A client that went away did not say that this was all.
  if (stop().stop_requested()) return Cancelled("the client went away");
  SINKD_ASSIGN_OR_RETURN(const sinks::v1::ImportRecordsResponse response, import_->Finish());
  const std::lock_guard lock(mutex_);
  EndWith(SerializeMessage(response));
  return absl::OkStatus();
}

}  // namespace sinkd
