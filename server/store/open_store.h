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
  int readers = 4;  // concurrent reads, besides one write; at least 1
  std::function<StoreTime()> now = [] {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  };
};

// Opens `folder`/runs.db; creates both if missing, readable by this user only. During the lifetime
// of the store, no other process can use it. Checks the whole file, which takes about a second per
// gigabyte if the system has it in memory. On a full disk, an existing store can still be opened,
// for reading and removing. Errors: FAILED_PRECONDITION STORE_IN_USE, STORE_DAMAGED, STORE_TOO_NEW
// or STORE_UNUSABLE (missing permissions).
absl::StatusOr<std::unique_ptr<RunStore>> OpenSqliteStore(const std::filesystem::path& folder,
                                                          const StoreOptions& options);

// `url`: postgresql://user:password@host:port/database?parameter=value, as libpq parses it. Creates
// missing tables; several servers may do so at the same time. Restores a connection that breaks.
// No message or log line of the store contains the password.
// Errors: INVALID_ARGUMENT STORE_URL_INVALID; UNAVAILABLE STORE_UNREACHABLE; FAILED_PRECONDITION
// STORE_TOO_NEW or STORE_UNUSABLE (refused).
absl::StatusOr<std::unique_ptr<RunStore>> OpenPostgresStore(const std::string& url,
                                                            const StoreOptions& options);

// `url` without its password and parameters, for logs.
absl::StatusOr<std::string> PostgresUrlForLogs(const std::string& url);

}  // namespace sinkd
