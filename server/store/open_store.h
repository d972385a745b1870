// Opens a store: SQLite in a folder for one server, or PostgreSQL for several.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "server/store/run_store.h"

namespace sinkd {

struct StoreOptions {
  int readers = 4;  // reads that may go on at once, beside one write; at least 1
  std::function<StoreTime()> now = [] {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  };
};

// `folder`/runs.db, both made when missing, readable by this user alone, for as long as the store
// is there by this process alone. The whole file is checked, which takes about a second a gigabyte
// when the system has it in memory. On a full disk a store that was there is opened all the same,
// for reading and removing. Errors: FAILED_PRECONDITION STORE_IN_USE, STORE_DAMAGED, STORE_TOO_NEW
// or STORE_UNUSABLE (no such rights).
absl::StatusOr<std::unique_ptr<RunStore>> OpenSqliteStore(const std::filesystem::path& folder,
                                                          const StoreOptions& options);

// `url`: postgresql://user:password@host:port/database?parameter=value, as libpq reads it. Tables
// are made when missing; several servers may do so at once. A connection that breaks is made anew.
// No message or log line of the store holds the password.
// Errors: INVALID_ARGUMENT STORE_URL_INVALID; UNAVAILABLE STORE_UNREACHABLE; FAILED_PRECONDITION
// STORE_TOO_NEW or STORE_UNUSABLE (refused).
absl::StatusOr<std::unique_ptr<RunStore>> OpenPostgresStore(const std::string& url,
                                                            const StoreOptions& options);

// `url` without its password and parameters, for logs.
absl::StatusOr<std::string> PostgresUrlForLogs(const std::string& url);

}  // namespace sinkd
