// The store's tables, as numbered migrations, each applied once to a database.
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

// {bytes} and {serial_key} in the statements are replaced by the dialect's words.
struct Migration {
  int64_t version = 0;
  std::vector<std::string_view> statements;
};

// All migrations, by ascending version.
std::span<const Migration> StoreMigrations();

// Migrates the database to the last version in one transaction, which waits for other servers that
// do the same. Errors: STORE_TOO_NEW if the database has a later version.
absl::Status Migrate(Database& database, std::span<const Migration> migrations, StoreTime now);

}  // namespace sinkd
