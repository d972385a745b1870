// AuditService: the gRPC face of audits, which read stored runs and need no model. They run on
// threads of their own and end soon after a call was cancelled.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include "server/scheduler/executor.h"
#include "server/service/calls/call_service.h"
#include "server/store/run_store.h"

namespace sinkd {

class AuditService final : public CallService {
 public:
  // `store` null: the server has none.
  AuditService(RunStore* store, const CallResources& calls);

  void Shutdown();  // ends what waits, joins the threads

 private:
  Executor threads_;
};

}  // namespace sinkd
