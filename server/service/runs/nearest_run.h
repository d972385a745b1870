// Runs, models and labels that are nearest to ones that there are not, for the fix of an error.
//
// Thread-safety: any thread, which may wait for the store.
#pragma once

#include <string>

#include <absl/status/status.h>

#include "server/store/run_store.h"

namespace sinkd {

// `status`; where it is RUN_NOT_FOUND, with the run in its fix whose name is nearest to the one
// asked for, of the newest 1,000.
absl::Status NameNearestRun(RunStore& store, absl::Status status);

// What was meant by the model or a label of a filter that none of the newest 1,000 runs has:
// "models/smollm2" or "the label branch=main"; empty when nothing is near.
std::string NearestToFilter(RunStore& store, const ListOptions& filter);

}  // namespace sinkd
