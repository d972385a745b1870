// ReplyStream: a call with one request and many responses. Each response is made once the previous
// one is written, on threads that may block.
//
// Thread-safety: see call.h; the source belongs to the outstanding job.
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
  // The next message; nullopt at the end. Returns soon after `stop` is triggered.
  virtual absl::StatusOr<std::optional<grpc::ByteBuffer>> Next(const std::stop_token& stop) = 0;
};

class ReplyStream final : public Call {
 public:
  using Open =
      std::function<absl::StatusOr<std::unique_ptr<ReplySource>>(const grpc::ByteBuffer& request)>;

  // `open` parses the request, on a thread of `threads`; it may block.
  ReplyStream(grpc::CallbackServerContext* context, std::string_view method,
              const CallResources& resources, Executor* threads, Open open);

 private:
  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  void Advance() override;

  // The job; called without the lock.
  absl::Status Make();
  absl::StatusOr<std::optional<grpc::ByteBuffer>> Next();

  Executor& threads_;
  const Open open_;
  std::unique_ptr<Executor::Stream> waiting_;
  std::optional<grpc::ByteBuffer> request_;  // once it has arrived
  std::unique_ptr<ReplySource> source_;
  bool making_ = false;
};

}  // namespace sinkd
