// RunGroups: which stored runs a summary is asked of, by group.
//
// Thread-safety: one thread, which may wait for the store.
// Errors: those of RunStore; INVALID_ARGUMENT for a request that names nothing or asks for an order
// without a label; FAILED_PRECONDITION RUNS_DIFFER for runs of one group that were made with
// different parameters, unless `common` is set, RUN_LACKS_ANALYSIS for a run whose records do not
// hold what is asked for, and, with a numeric order, LABEL_MISSING and LABEL_NOT_NUMERIC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

struct RunGroup {
  std::string name;               // as SummarizeRunsResponse.group
  double number = 0;              // what the name is, with a numeric order
  std::vector<std::string> runs;  // ids, by time of making and id
  v1::AnalysisSpec spec;          // the analyses that they are folded with
  // With `common`; the counts are those of what the runs hold.
  std::vector<sinks::v1::SpecDifference> differences;
  bool common = false;
  int64_t samples = 0;
  int64_t tokens = 0;
};

// Groups by name, or by number.
absl::StatusOr<std::vector<RunGroup>> FindRunGroups(RunStore& store,
                                                    const sinks::v1::SummarizeRunsRequest& request);

}  // namespace sinkd
