// LoadStream: one LoadModel call. The load runs on a thread of the load executor. Progress that
// arrives during a write is merged: only the latest message is sent.
//
// A client that disconnects abandons the load (models/registry.h describes its followers).
// Thread-safety: see call.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "server/service/calls/call.h"
#include "server/service/models/model_catalog.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

class LoadStream final : public Call {
 public:
  LoadStream(grpc::CallbackServerContext* context, std::string_view method,
             const CallResources& resources, Executor* loads, ModelCatalog* catalog);

 private:
  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  void Advance() override;
  CallRecord::Work Done() override { return {.model = id_}; }

  absl::Status Load(const LoadOptions& options, std::optional<bool> pinned);  // the job

  Executor& loads_;
  ModelCatalog& catalog_;
  std::unique_ptr<Executor::Stream> slot_;
  std::string id_;
  sinks::v1::LoadModelResponse written_;  // the last message written
  std::optional<sinks::v1::LoadModelResponse> next_;
  bool loaded_ = false;  // next_, or written_, is the last message
};

}  // namespace sinkd
