// ServerService: the gRPC face of the server's own state, which is gathered on a thread of its own.
//
// Ownership: borrows what it is given, all of which must outlive the grpc::Server.
// Thread-safety: called by gRPC from any thread.
#pragma once

#include <memory>

#include "server/scheduler/executor.h"
#include "server/service/server_status.h"
#include "sinks/v1/server.grpc.pb.h"

namespace sinkd {

class ServerService final : public sinks::v1::ServerService::WithRawCallbackMethod_GetServerStatus<
                                sinks::v1::ServerService::Service> {
 public:
  ServerService(const StatusSources& sources, Metrics& metrics);

  grpc::ServerUnaryReactor* GetServerStatus(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override;

  void Shutdown();  // ends what waits, joins the thread

 private:
  const StatusSources sources_;
  Metrics& metrics_;
  Executor thread_;
  std::unique_ptr<Executor::Stream> waiting_;
};

}  // namespace sinkd
