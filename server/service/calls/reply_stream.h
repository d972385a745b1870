// ReplyStream: a call of one request, whose answers are made one after the other, each when the
// one before is written, on threads that may wait.
//
// Thread-safety: as call.h has it; the source belongs to the outstanding job.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/service/calls/call.h"

namespace sinkd {

// Makes the messages of one call. Used by one thread at a time.
class ReplySource {
 public:
  virtual ~ReplySource() = default;
  // The next message; nullopt: there are no more. Ends soon once `stop` is set.
  virtual absl::StatusOr<std::optional<grpc::ByteBuffer>> Next(const std::stop_token& stop) = 0;
};

class ReplyStream final : public Call {
 public:
  using Open =
      std::function<absl::StatusOr<std::unique_ptr<ReplySource>>(const grpc::ByteBuffer& request)>;

  // `open` reads the request, on a thread of `threads`, which may wait.
  ReplyStream(grpc::CallbackServerContext* context, std::string_view method,
              const CallResources& resources, Executor* threads, Open open);

 private:
  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  void Advance() override;

  // Not under the lock: the job.
  absl::Status Make();
  absl::StatusOr<std::optional<grpc::ByteBuffer>> Next();

  Executor& threads_;
  const Open open_;
  std::unique_ptr<Executor::Stream> waiting_;
  std::optional<grpc::ByteBuffer> request_;  // once it came
  std::unique_ptr<ReplySource> source_;
  bool making_ = false;
};

}  // namespace sinkd
