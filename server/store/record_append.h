// The transaction that adds records and counts them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/store/connection.h"
#include "server/store/run_store.h"

namespace sinkd {

// The records of one caller, after the checks (run_rules.h).
struct AppendRequest {
  std::string_view run_id;
  std::span<const Record> records;
  AppendOptions options;
  // One entry per record, or why this run accepts none.
  absl::StatusOr<std::vector<Kept>> answer = std::vector<Kept>();
};

// Adds a request's records within the writer's transaction and sets its answer. Returns the status
// of the database; on an error, the transaction must be rolled back.
absl::Status AppendRecords(Connection& connection, StoreTime now, AppendRequest& request);

// For each of `keys`, what the run holds under it.
absl::StatusOr<std::vector<bool>> FindKeys(Connection& connection, int64_t run_number,
                                           std::span<const std::string_view> keys);

}  // namespace sinkd
