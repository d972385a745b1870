// ReplyStream: one server-streaming call whose messages are made one after the other, each when the
// one before is written, on threads that may wait.
//
// Ownership: owns itself until gRPC is done with it; work under way keeps it alive after that.
// Thread-safety: reactions and jobs come from any thread; mutex_ guards all state but the source,
// which belongs to the outstanding job.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_record.h"

namespace sinkd {

// Makes the messages of one call. Used by one thread at a time.
class ReplySource {
 public:
  virtual ~ReplySource() = default;
  // The next message; nullopt: there are no more. Ends soon once `stop` is set.
  virtual absl::StatusOr<std::optional<grpc::ByteBuffer>> Next(const std::stop_token& stop) = 0;
};

class ReplyStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<ReplyStream> {
 public:
  struct Resources {  // borrowed
    Admission& admission;
    Executor& threads;
    Metrics& metrics;
  };
  using Open =
      std::function<absl::StatusOr<std::unique_ptr<ReplySource>>(const grpc::ByteBuffer& request)>;

  // The reactor for a new call. `open` reads the request, on a thread that may wait.
  static ReplyStream* Begin(grpc::CallbackServerContext* context, std::string_view method,
                            const grpc::ByteBuffer& request, const Resources& resources, Open open);

  ReplyStream(grpc::CallbackServerContext* context, std::string_view method,
              const grpc::ByteBuffer& request, const Resources& resources, Open open);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Under the lock.
  absl::Status Start();
  void MakeNext();
  void End(absl::Status status);

  // Not under the lock: the job.
  void Make();
  absl::StatusOr<std::optional<grpc::ByteBuffer>> NextMessage();

  std::mutex mutex_;
  std::shared_ptr<ReplyStream> self_;  // until OnDone
  CallRecord record_;
  const grpc::ByteBuffer request_;
  const Resources resources_;
  const Executor::Clock::time_point deadline_;
  const Open open_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<Executor::Stream> waiting_;
  std::unique_ptr<ReplySource> source_;
  grpc::ByteBuffer outgoing_;
  std::stop_source stop_;
  std::optional<absl::Status> end_;

  // Last, so that it is gone before what it uses.
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
