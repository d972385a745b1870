#include "server/service/server_service.h"

#include "server/service/calls/unary_call.h"

namespace sinkd {
namespace {

constexpr size_t kWaiting = 64;

}  // namespace

ServerService::ServerService(const StatusSources& sources, Metrics& metrics)
    : sources_(sources),
      metrics_(metrics),
      thread_({.name = "server status", .capacity = kWaiting}),
      waiting_(*thread_.OpenStream(kWaiting)) {}

void ServerService::Shutdown() {
  thread_.Shutdown(Executor::ShutdownMode::kCancel);
}

grpc::ServerUnaryReactor* ServerService::GetServerStatus(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  using Response = sinks::v1::GetServerStatusResponse;
  return ServeUnary<sinks::v1::GetServerStatusRequest, Response>(
      {*waiting_, metrics_}, context, "sinks.v1.ServerService/GetServerStatus", request, response,
      [this](const sinks::v1::GetServerStatusRequest&) -> absl::StatusOr<Response> {
        Response out;
        *out.mutable_status() = GatherStatus(sources_);
        return out;
      });
}

}  // namespace sinkd
