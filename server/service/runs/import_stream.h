// ImportStream: one ImportRecords call. A message is stored before the next one is read, so a slow
// disk slows the sender.
//
// Ownership: owns itself until gRPC is done with it; work under way keeps it alive after that.
// Thread-safety: reactions and jobs come from any thread; there is one at a time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/calls/reply_stream.h"
#include "server/service/runs/record_import.h"

namespace sinkd {

class ImportStream final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                           public std::enable_shared_from_this<ImportStream> {
 public:
  using Resources = ReplyStream::Resources;

  // The reactor for a new call; without a store it ends with that status.
  static ImportStream* Begin(grpc::CallbackServerContext* context, std::string_view method,
                             grpc::ByteBuffer* response, const Resources& resources,
                             absl::StatusOr<RunStore*> store, const std::string& template_date);

  ImportStream(grpc::CallbackServerContext* context, std::string_view method,
               grpc::ByteBuffer* response, const Resources& resources);

  void OnReadDone(bool ok) override;
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override;

 private:
  absl::Status Start(const absl::StatusOr<RunStore*>& store, const std::string& template_date);
  void Take(bool ok);
  absl::Status Store();
  absl::Status Answer();
  void End(absl::Status status);

  std::mutex mutex_;
  std::shared_ptr<ImportStream> self_;    // until OnDone
  grpc::CallbackServerContext& context_;  // until OnDone
  CallRecord record_;
  const Resources resources_;
  const Executor::Clock::time_point deadline_;
  grpc::ByteBuffer* const response_;  // gRPC's
  grpc::ByteBuffer incoming_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<Executor::Stream> waiting_;
  std::optional<RecordImport> import_;
  std::stop_source stop_;
  std::optional<absl::Status> end_;

  // Last, so that it is gone before what it uses.
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
