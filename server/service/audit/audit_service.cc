#include "server/service/audit/audit_service.h"

#include <stop_token>

#include "server/service/audit/run_audit.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kThreads = 3;
constexpr size_t kWaiting = 32;

}  // namespace

AuditService::AuditService(RunStore* store, const CallResources& calls)
    : CallService(calls),
      threads_({.name = "audits",
                .when_full = "retry when another audit is done",
                .threads = kThreads,
                .capacity = kWaiting,
                .caller_percent = calls.max_caller_percent}) {
  AddUnary<v1::AuditRunsRequest>(
      "/sinks.v1.AuditService/AuditRuns", threads_,
      [store](const v1::AuditRunsRequest& message,
              const std::stop_token& stop) -> absl::StatusOr<v1::AuditRunsResponse> {
        if (store == nullptr) return StoreOff();
        auto audit = RunAudit(*store, message, [&stop] { return stop.stop_requested(); });
        if (!audit.ok()) return NameNearestRun(*store, audit.status());
        return audit;
      });
}

void AuditService::Shutdown() {
  threads_.Shutdown(Executor::ShutdownMode::kCancel);
}

}  // namespace sinkd
