#include "server/store/open_store.h"

#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/store/postgres_connection.h"
#include "server/store/postgres_url.h"
#include "server/store/sql_run_store.h"
#include "server/store/sqlite_connection.h"
#include "server/store/sqlite_errors.h"
#include "server/store/sqlite_files.h"
#include "server/store/state_lock.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

absl::Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::create_directories(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  if (!error) return absl::OkStatus();
  if (IsOutOfSpace(error.value())) return StoreFull(error.message());
  return StoreUnusable(folder.string(), error.message(),
                       "give this user the right to write there, or name another folder");
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunStore>> OpenSqliteStore(const std::filesystem::path& folder,
                                                          const StoreOptions& options) {
  SINKD_RETURN_IF_ERROR(MakeFolder(folder));
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<StateLock> lock, StateLock::Take(folder));
  const auto files = std::make_shared<SqliteFiles>(folder, std::move(lock));
  SINKD_RETURN_IF_ERROR(files->Prepare());
  SINKD_ASSIGN_OR_RETURN(
      std::unique_ptr<Database> database,
      Database::Open(
          [&] { return SqliteConnection::Open(files, SqliteConnection::Use::kWrite); },
          [files] { return SqliteConnection::Open(files, SqliteConnection::Use::kRead); },
          options.readers));
  return SqlRunStore::Open(std::move(database), options.now);
}

absl::StatusOr<std::unique_ptr<RunStore>> OpenPostgresStore(const std::string& url,
                                                            const StoreOptions& options) {
  const Connect connect = [url] { return PostgresConnection::Open(url); };
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                         Database::Open(connect, connect, options.readers));
  return SqlRunStore::Open(std::move(database), options.now);
}

absl::StatusOr<std::string> PostgresUrlForLogs(const std::string& url) {
  SINKD_ASSIGN_OR_RETURN(const PostgresUrl parsed, PostgresUrl::Parse(url));
  return parsed.ForLogs();
}

}  // namespace sinkd
