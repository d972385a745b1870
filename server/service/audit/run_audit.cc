#include "server/service/audit/run_audit.h"

#include <cstdint>
#include <vector>

#include "server/audit/audit.h"
#include "server/base/status.h"
#include "server/service/audit/audited_runs.h"
#include "server/service/audit/codec_audit.h"
#include "server/service/runs/codec_run.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

void ListRuns(const std::vector<RunGroup>& runs,
              google::protobuf::RepeatedPtrField<std::string>* names) {
  for (const RunGroup& run : runs) *names->Add() = RunName(run.runs.front());
}

}  // namespace

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

}  // namespace sinkd
