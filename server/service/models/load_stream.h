// LoadStream: one LoadModel call. The load runs on a thread of the load executor; progress that
// comes while a write is under way is told as one message, the latest.
//
// A client that goes away abandons the load (models/registry.h says what becomes of followers).
// Ownership: owns itself until gRPC is done with it; a running load keeps it alive after that.
// Thread-safety: reactions and progress come from any thread; mutex_ guards all state.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_record.h"
#include "server/service/models/model_catalog.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

class LoadStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                         public std::enable_shared_from_this<LoadStream> {
 public:
  struct Resources {  // borrowed
    ModelCatalog& catalog;
    Admission& admission;
    Executor& loads;
    Metrics& metrics;
  };

  // The reactor for a new call; `resources` must outlive it.
  static LoadStream* Begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
                           const Resources& resources);

  LoadStream(grpc::CallbackServerContext* context, const Resources& resources);
  ~LoadStream() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  absl::Status Start(const grpc::ByteBuffer& bytes);
  void Load(const LoadOptions& options, std::optional<bool> pinned);  // on the executor
  void EndOnAbort();

  // Under the lock.
  void End(absl::Status status);
  void Pump();

  std::mutex mutex_;
  std::shared_ptr<LoadStream> self_;  // until OnDone
  const Resources& resources_;
  CallRecord record_;
  const Executor::Clock::time_point deadline_;
  std::stop_source stop_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<Executor::Stream> slot_;
  std::string id_;

  grpc::ByteBuffer outgoing_;
  sinks::v1::LoadModelResponse written_;  // what was written last
  std::optional<sinks::v1::LoadModelResponse> next_;
  bool loaded_ = false;  // next_, or what was written last, is the last message
  bool writing_ = false;
  bool finished_ = false;
  std::optional<absl::Status> end_;

  // Last, so that it is gone before what it uses.
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
