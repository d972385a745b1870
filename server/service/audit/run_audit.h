// RunAudit: an audit from request to response.
//
// Thread-safety: one thread, which may wait for the store.
// Errors: those of AuditRuns; CANCELLED soon after `stopped` says so.
#pragma once

#include <functional>

#include <absl/status/statusor.h>

#include "server/store/run_store.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {

absl::StatusOr<sinks::v1::AuditRunsResponse> RunAudit(RunStore& store,
                                                      const sinks::v1::AuditRunsRequest& request,
                                                      const std::function<bool()>& stopped);

}  // namespace sinkd
