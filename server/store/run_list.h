// Lists runs, newest first, with keyset pagination: an index finds the last run of the previous
// page, so the hundredth page costs as much as the first.
#pragma once

#include <absl/status/statusor.h>

#include "server/store/connection.h"
#include "server/store/run_store.h"

namespace sinkd {

absl::StatusOr<RunPage> ListRuns(Connection& connection, const ListOptions& options);

}  // namespace sinkd
