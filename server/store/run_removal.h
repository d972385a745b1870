// Removes runs. First the run's id becomes free and the run disappears from every list. Then its
// records are deleted, some at a time, so that a large run does not block writers. FinishRemovals
// completes removals that were interrupted.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/store/database.h"
#include "server/store/run_store.h"

namespace sinkd {

// Errors: RUN_NOT_FOUND. After OK the run is gone; FinishRemovals then frees its space.
absl::Status HideRun(Database& database, std::string_view run_id);

// Deletes the records of all hidden runs and returns the space to the system.
absl::Status FinishRemovals(Database& database);

absl::StatusOr<Pruned> PruneRuns(Database& database, const PrunePolicy& policy, StoreTime now);

}  // namespace sinkd
