// AuditService: the gRPC face of audits, which read stored runs and need no model. They run on
// threads of their own and end soon after a call was cancelled.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>

#include "server/scheduler/executor.h"
#include "server/store/run_store.h"
#include "server/telemetry/metrics.h"
#include "sinks/v1/audit.grpc.pb.h"

namespace sinkd {

class AuditService final : public sinks::v1::AuditService::WithRawCallbackMethod_AuditRuns<
                               sinks::v1::AuditService::Service> {
 public:
  // `store` null: the server has none.
  AuditService(RunStore* store, Metrics& metrics);

  grpc::ServerUnaryReactor* AuditRuns(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;

  void Shutdown();  // ends what waits, joins the threads

 private:
  RunStore* const store_;
  Metrics& metrics_;
  Executor threads_;
  std::unique_ptr<Executor::Stream> waiting_;
};

}  // namespace sinkd
