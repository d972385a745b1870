// Turns PostgreSQL's errors into the store's.
#pragma once

#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// `state` is a SQLSTATE of five characters, or empty for an error from libpq.
absl::Status PostgresError(std::string_view state, std::string_view message);

// `message` is libpq's for a failed connection, which has no SQLSTATE.
absl::Status PostgresConnectError(std::string_view message);

}  // namespace sinkd
