// Removing runs. A run first gives its id back and is out of every list; then its records go, some
// at a time, so that a large run does not keep writers waiting. A removal that was broken off is
// ended by FinishRemovals.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/store/database.h"
#include "server/store/run_store.h"

namespace sinkd {

// Errors: RUN_NOT_FOUND. After OK the run is gone; FinishRemovals then frees its room.
absl::Status HideRun(Database& database, std::string_view run_id);

// Removes what hidden runs hold, whoever hid them, and gives the room back to the system.
absl::Status FinishRemovals(Database& database);

absl::StatusOr<Pruned> PruneRuns(Database& database, const PrunePolicy& policy, StoreTime now);

}  // namespace sinkd
