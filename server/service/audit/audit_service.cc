#include "server/service/audit/audit_service.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "server/audit/audit.h"
#include "server/base/status.h"
#include "server/service/audit/audited_runs.h"
#include "server/service/audit/codec_audit.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr int kThreads = 3;
constexpr size_t kWaiting = 32;

void ListRuns(const std::vector<RunGroup>& runs,
              google::protobuf::RepeatedPtrField<std::string>* names) {
  for (const RunGroup& run : runs) *names->Add() = RunName(run.runs.front());
}

absl::StatusOr<v1::AuditRunsResponse> RunAudit(RunStore& store, const v1::AuditRunsRequest& request,
                                               const std::function<bool()>& stopped) {
  SINKD_ASSIGN_OR_RETURN(const Policy policy, ParsePolicy(request.policy()));
  SINKD_RETURN_IF_ERROR(CheckBaseline(policy, request.has_baseline()));
  SINKD_ASSIGN_OR_RETURN(const std::vector<RunGroup> candidates,
                         FindAuditedRuns(store, request.candidate(), "candidate"));
  std::vector<RunGroup> baselines;
  if (request.has_baseline()) {
    SINKD_ASSIGN_OR_RETURN(baselines, FindAuditedRuns(store, request.baseline(), "baseline"));
  }
  std::vector<RunGroup> all = candidates;
  all.insert(all.end(), baselines.begin(), baselines.end());
  SINKD_RETURN_IF_ERROR(CheckComparable(all));

  const auto seed = static_cast<uint64_t>(request.seed());
  Evidence candidate(seed);
  SINKD_RETURN_IF_ERROR(GatherEvidence(store, candidates, stopped, candidate));
  Evidence baseline(seed);
  SINKD_RETURN_IF_ERROR(GatherEvidence(store, baselines, stopped, baseline));
  SINKD_ASSIGN_OR_RETURN(
      const AuditReport report,
      Audit(policy, candidate, request.has_baseline() ? &baseline : nullptr, seed, stopped));

  v1::AuditRunsResponse response = EncodeAudit(report);
  response.set_policy_name(policy.name);
  ListRuns(candidates, response.mutable_candidate_runs());
  ListRuns(baselines, response.mutable_baseline_runs());
  response.set_candidate_samples(candidate.seen());
  response.set_baseline_samples(baseline.seen());
  response.set_seed(request.seed());
  return response;
}

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
