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

// One caller's records. They have been checked (run_rules.h).
struct AppendRequest {
  std::string_view run_id;
  std::span<const Record> records;
  AppendOptions options;
  // An entry a record, or why this run takes none.
  absl::StatusOr<std::vector<Kept>> answer = std::vector<Kept>();
};

// Adds a request's records inside the writer's transaction and sets its answer. The status is that
// of the database; when it is an error, the transaction has to be rolled back.
absl::Status AppendRecords(Connection& connection, StoreTime now, AppendRequest& request);

// Of `keys`, those that the run holds: an entry a key.
absl::StatusOr<std::vector<bool>> FindKeys(Connection& connection, int64_t run_number,
                                           std::span<const std::string_view> keys);

}  // namespace sinkd
