#include "server/service/server_service.h"

#include "sinks/v1/server.pb.h"

namespace sinkd {
namespace {

constexpr size_t kWaiting = 64;

}  // namespace

ServerService::ServerService(const StatusSources& sources, const CallResources& calls)
    : CallService(calls),
      thread_({.name = "server status",
               .capacity = kWaiting,
               .caller_percent = calls.max_caller_percent}) {
  using Response = sinks::v1::GetServerStatusResponse;
  AddUnary<sinks::v1::GetServerStatusRequest>(
      "/sinks.v1.ServerService/GetServerStatus", thread_,
      [sources](const sinks::v1::GetServerStatusRequest&) -> absl::StatusOr<Response> {
        Response out;
        *out.mutable_status() = GatherStatus(sources);
        return out;
      });
}

void ServerService::Shutdown() {
  thread_.Shutdown(Executor::ShutdownMode::kCancel);
}

}  // namespace sinkd
