#include "server/store/sqlite_connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/sqlite_errors.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kPagesPerReclaim = 1000;

constexpr Dialect kDialect = {.bytes_type = "BLOB",
                              .serial_key = "INTEGER PRIMARY KEY AUTOINCREMENT",
                              .for_update = "",
                              .lock_schema = ""};

// SQLite would make it readable by others; its log takes the rights of this file.
absl::Status MakeFile(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const int error = errno;
    if (IsOutOfSpace(error)) return StoreFull(std::strerror(error));
    return StoreUnusable(file.string(), std::strerror(error),
                         "give this user the right to write there, or name another folder");
  }
  close(descriptor);
  return absl::OkStatus();
}

class SqliteRow : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool IsNull(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  int64_t Integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  std::string_view Text(int column) const override {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
  }

 private:
  sqlite3_stmt* const statement_;
};

struct Binder {
  sqlite3_stmt* statement;
  int index;

  int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
  int operator()(int64_t value) const { return sqlite3_bind_int64(statement, index, value); }
  int operator()(std::string_view text) const {
    return sqlite3_bind_text64(statement, index, text.data() ? text.data() : "", text.size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
  int operator()(Bytes bytes) const {
    // An empty blob wants a pointer too, or it is taken for NULL.
    return sqlite3_bind_blob64(statement, index, bytes.value.data() ? bytes.value.data() : "",
                               bytes.value.size(), SQLITE_STATIC);
  }
};

// Parameters are the caller's and end with the call, so a statement must not outlive it bound.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetAtEnd() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  sqlite3_stmt* const statement_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> SqliteConnection::Open(
    const std::filesystem::path& file, Use use) {
  SINKD_RETURN_IF_ERROR(MakeFile(file));
  sqlite3* handle = nullptr;
  errno = 0;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(file, handle));
  if (code != SQLITE_OK) return connection->Error(code);
  SINKD_RETURN_IF_ERROR(connection->SetUp(use));
  return std::unique_ptr<Connection>(std::move(connection));
}

SqliteConnection::SqliteConnection(std::filesystem::path file, sqlite3* handle)
    : file_(std::move(file)), handle_(handle) {}

SqliteConnection::~SqliteConnection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement.handle);
  sqlite3_close_v2(handle_);
}

const Dialect& SqliteConnection::dialect() const {
  return kDialect;
}

absl::Status SqliteConnection::SetUp(Use use) {
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  if (use == Use::kRead) return Execute("PRAGMA query_only = ON").status();
  // auto_vacuum must be chosen before the first table, and before the log.
  SINKD_RETURN_IF_ERROR(Execute("PRAGMA auto_vacuum = INCREMENTAL").status());
  SINKD_RETURN_IF_ERROR(UseLog());
  for (const std::string_view pragma :
       {"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON",
        "PRAGMA journal_size_limit = 67108864", "PRAGMA cache_size = -16384"}) {
    SINKD_RETURN_IF_ERROR(Execute(pragma).status());
  }
  return Check();
}

absl::Status SqliteConnection::UseLog() {
  std::string mode;
  SINKD_RETURN_IF_ERROR(Query("PRAGMA journal_mode = WAL", {}, [&](const Row& row) {
    mode = row.Text(0);
    return true;
  }));
  if (mode == "wal") return absl::OkStatus();
  return StoreUnusable(file_.string(), "its file system has no memory shared between processes",
                       "name a folder on a local disk");
}

absl::Status SqliteConnection::Check() {
  std::string verdict;
  SINKD_RETURN_IF_ERROR(Query("PRAGMA quick_check(1)", {}, [&](const Row& row) {
    verdict = row.Text(0);
    return false;
  }));
  return verdict == "ok" ? absl::OkStatus() : SqliteDamaged(file_, verdict);
}

absl::Status SqliteConnection::Begin() {
  return Execute("BEGIN IMMEDIATE").status();
}

absl::Status SqliteConnection::Commit() {
  return Execute("COMMIT").status();
}

void SqliteConnection::Rollback() {
  // After some errors SQLite has rolled back by itself.
  if (sqlite3_get_autocommit(handle_) == 0) (void)Execute("ROLLBACK");
}

absl::Status SqliteConnection::Query(std::string_view sql, const Values& parameters,
                                     const RowReader& reader) {
  SINKD_ASSIGN_OR_RETURN(const Statement* statement, Prepare(sql));
  const ResetAtEnd reset(statement->handle);
  SINKD_RETURN_IF_ERROR(Bind(*statement, parameters));
  return Step(*statement, reader).status();
}

absl::StatusOr<std::vector<int64_t>> SqliteConnection::ExecuteMany(
    std::string_view sql, std::span<const Values> parameters) {
  SINKD_ASSIGN_OR_RETURN(const Statement* statement, Prepare(sql));
  std::vector<int64_t> rows;
  rows.reserve(parameters.size());
  for (const Values& values : parameters) {
    const ResetAtEnd reset(statement->handle);
    SINKD_RETURN_IF_ERROR(Bind(*statement, values));
    SINKD_ASSIGN_OR_RETURN(const int64_t count, Step(*statement, [](const Row&) { return true; }));
    rows.push_back(count);
  }
  return rows;
}

absl::StatusOr<bool> SqliteConnection::ReclaimSpace() {
  int64_t free_pages = 0;
  SINKD_RETURN_IF_ERROR(Query("PRAGMA freelist_count", {}, [&](const Row& row) {
    free_pages = row.Integer(0);
    return false;
  }));
  if (free_pages == 0) return false;
  SINKD_RETURN_IF_ERROR(
      Execute(StrCat("PRAGMA incremental_vacuum(", kPagesPerReclaim, ")")).status());
  if (free_pages > kPagesPerReclaim) return true;
  // The file is cut when the log has been brought into it.
  SINKD_RETURN_IF_ERROR(Execute("PRAGMA wal_checkpoint(PASSIVE)").status());
  return false;
}

absl::StatusOr<int64_t> SqliteConnection::SizeOnDisk() {
  int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    struct stat status = {};
    if (stat((file_.string() + suffix).c_str(), &status) == 0) bytes += status.st_size;
  }
  return bytes;
}

absl::StatusOr<SqliteConnection::Statement*> SqliteConnection::Prepare(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return &found->second;
  Statement statement;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement.handle, /*pzTail=*/nullptr);
  if (code != SQLITE_OK) return Error(code);
  const int count = sqlite3_bind_parameter_count(statement.handle);
  for (int i = 1; i <= count; ++i) {
    statement.indexes.push_back(
        sqlite3_bind_parameter_index(statement.handle, StrCat("$", i).c_str()));
  }
  return &statements_.emplace(sql, std::move(statement)).first->second;
}

absl::Status SqliteConnection::Bind(const Statement& statement, const Values& parameters) {
  if (parameters.size() != statement.indexes.size()) {
    return Internal(StrCat("a statement with ", statement.indexes.size(), " parameters was given ",
                           parameters.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int code = std::visit(Binder{statement.handle, statement.indexes[i]}, parameters[i]);
    if (code != SQLITE_OK) return Error(code);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteConnection::Step(const Statement& statement,
                                               const RowReader& reader) {
  const SqliteRow row(statement.handle);
  int64_t rows = 0;
  int code = SQLITE_OK;
  errno = 0;
  while ((code = sqlite3_step(statement.handle)) == SQLITE_ROW) {
    ++rows;
    if (!reader(row)) return rows;
  }
  if (code != SQLITE_DONE) return Error(code);
  return sqlite3_stmt_readonly(statement.handle) ? rows : int64_t{sqlite3_changes(handle_)};
}

absl::Status SqliteConnection::Error(int code) const {
  // sqlite3_system_errno knows nothing of what failed inside a commit.
  const int system_error = errno;
  return SqliteError(file_, code, handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code),
                     system_error);
}

}  // namespace sinkd
