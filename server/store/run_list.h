// Listing runs, newest first, by keyset: a page begins after the last run of the page before, found
// through an index, so that the hundredth page costs what the first one does.
#pragma once

#include <absl/status/statusor.h>

#include "server/store/connection.h"
#include "server/store/run_store.h"

namespace sinkd {

absl::StatusOr<RunPage> ListRuns(Connection& connection, const ListOptions& options);

}  // namespace sinkd
