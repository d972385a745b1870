// ImportStream: one ImportRecords call. A message is stored before the next one is read, so a slow
// disk slows the sender.
//
// Thread-safety: as call.h has it; there is one read or one job at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "server/service/calls/call.h"
#include "server/service/runs/record_import.h"

namespace sinkd {

class ImportStream final : public Call {
 public:
  // `store` null: the server has none, and the call ends with that.
  ImportStream(grpc::CallbackServerContext* context, std::string_view method,
               const CallResources& resources, Executor* threads, RunStore* store,
               std::string template_date);

 private:
  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  absl::Status HalfClosed() override;

  // Not under the lock: the jobs.
  absl::Status Store(const grpc::ByteBuffer& message);
  absl::Status Answer();

  Executor& threads_;
  RunStore* const store_;
  const std::string template_date_;
  std::unique_ptr<Executor::Stream> waiting_;
  std::optional<RecordImport> import_;
};

}  // namespace sinkd
