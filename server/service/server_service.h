// ServerService: the gRPC face of the server's own state, which is gathered on a thread of its own.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include "server/scheduler/executor.h"
#include "server/service/calls/call_service.h"
#include "server/service/server_status.h"

namespace sinkd {

class ServerService final : public CallService {
 public:
  ServerService(const StatusSources& sources, const CallResources& calls);

  void Shutdown();  // ends what waits, joins the thread

 private:
  Executor thread_;
};

}  // namespace sinkd
