// The store's tables, as numbered migrations that a database goes through once each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/store/connection.h"
#include "server/store/database.h"
#include "server/store/run_store.h"

namespace sinkd {

// {bytes} and {serial_key} in the statements stand for the dialect's words.
struct Migration {
  int64_t version = 0;
  std::vector<std::string_view> statements;
};

// All of them, by ascending version.
std::span<const Migration> StoreMigrations();

// Brings the database to the last version in one transaction, which waits for another server that
// does the same. Errors: STORE_TOO_NEW, when the database is past the last version.
absl::Status Migrate(Database& database, std::span<const Migration> migrations, StoreTime now);

}  // namespace sinkd
