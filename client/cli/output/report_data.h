// ReportData: what the page would ask the JSON API for, over some runs, gathered by RPC and written
// as the one JSON object that stands in a report (server/http/page/page.h).
//
// Errors: those of the calls. Thread-safety: a function; the clients may be shared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "client/call.h"
#include "client/model_client.h"
#include "client/run_client.h"

namespace sinkd::cli {

struct ReportRequest {
  std::vector<std::string> runs;  // with or without "runs/"
  int64_t samples = 20;           // records of each run, from its first
  std::string server;             // as the report names it
};

// JSON without '<', so that it may stand inside a script element. A run's model that the server
// does not have any more is left out.
absl::StatusOr<std::string> GatherReport(const client::RunClient& runs,
                                         const client::ModelClient& models,
                                         const ReportRequest& request,
                                         const client::CallOptions& options);

}  // namespace sinkd::cli
