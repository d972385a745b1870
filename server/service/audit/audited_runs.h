// AuditedRuns: the stored runs of an audit, found and read.
//
// Thread-safety: one thread, which may wait for the store.
// Errors: those of RunStore; INVALID_ARGUMENT for a selection that names nothing; NOT_FOUND
// (NO_RUN_SELECTED) for one that nothing meets; FAILED_PRECONDITION (RUNS_DIFFER) for runs whose
// sinks were found, or scored, with different parameters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/audit/evidence.h"
#include "server/service/runs/run_groups.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {

// One group a run. `field` is where the selection stood: "candidate".
absl::StatusOr<std::vector<RunGroup>> FindAuditedRuns(RunStore& store,
                                                      const sinks::v1::RunSelection& selection,
                                                      const std::string& field);

absl::Status CheckComparable(const std::vector<RunGroup>& runs);

// Reads all records of the runs; CANCELLED once `stopped` says so, which is asked every page.
absl::Status GatherEvidence(RunStore& store, const std::vector<RunGroup>& runs,
                            const std::function<bool()>& stopped, Evidence& evidence);

}  // namespace sinkd
