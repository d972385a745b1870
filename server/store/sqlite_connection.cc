#include "server/store/sqlite_connection.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/sqlite_errors.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kPagesPerReclaim = 200;
constexpr int64_t kMostPages = 0xfffffffe;  // SQLite's own limit
// After a commit that leaves more in the log it is brought into the file: a MiB.
constexpr int kLogPages = 256;
// Readers that overlap keep the log from being begun anew; here they are waited for, shortly.
constexpr int kLongLogPages = 16 * kLogPages;
constexpr int kShortWaitMilliseconds = 200;
constexpr int kPagesPerCopyStep = 1000;
constexpr int64_t kLogHeaderBytes = 32, kLogPageHeaderBytes = 24;  // sqlite.org/fileformat2.html

constexpr Dialect kDialect = {.bytes_type = "BLOB",
                              .serial_key = "INTEGER PRIMARY KEY AUTOINCREMENT",
                              .for_update = "",
                              .lock_schema = ""};

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
    // An empty blob needs a pointer too; otherwise SQLite stores NULL.
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
    std::shared_ptr<SqliteFiles> files, Use use) {
  sqlite3* handle = nullptr;
  errno = 0;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(files->database().c_str(), &handle, flags, "unix-excl");
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(std::move(files), handle));
  if (code != SQLITE_OK) return connection->Error(code);
  SINKD_RETURN_IF_ERROR(connection->SetUp(use));
  return std::unique_ptr<Connection>(std::move(connection));
}

SqliteConnection::SqliteConnection(std::shared_ptr<SqliteFiles> files, sqlite3* handle)
    : files_(std::move(files)), handle_(handle) {}

SqliteConnection::~SqliteConnection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement.handle);
  sqlite3_close_v2(handle_);
}

const Dialect& SqliteConnection::dialect() const {
  return kDialect;
}

absl::Status SqliteConnection::SetUp(Use use) {
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  if (sqlite3_db_readonly(handle_, "main") == 1) {
    return SqliteFileError(files_->database(), EACCES);
  }
  if (use == Use::kRead) return Execute("PRAGMA query_only = ON").status();
  // auto_vacuum must be chosen before the first table, and before the log. Choosing it again would
  // write, which a full disk has no room for.
  SINKD_ASSIGN_OR_RETURN(const int64_t pages, Integer("PRAGMA page_count"));
  if (pages == 0) SINKD_RETURN_IF_ERROR(Execute("PRAGMA auto_vacuum = INCREMENTAL").status());
  SINKD_RETURN_IF_ERROR(UseLog());
  // secure_delete would write deleted pages to the log, for which a full disk has no room.
  for (const std::string_view pragma :
       {"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA secure_delete = OFF",
        "PRAGMA journal_size_limit = 1048576", "PRAGMA cache_size = -16384"}) {
    SINKD_RETURN_IF_ERROR(Execute(pragma).status());
  }
  SINKD_ASSIGN_OR_RETURN(page_bytes_, Integer("PRAGMA page_size"));
  const auto note_log = [](void* self, sqlite3*, const char*, int frames) {
    static_cast<SqliteConnection*>(self)->log_pages_ = frames;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_, note_log, this);
  SINKD_RETURN_IF_ERROR(Check());
  files_->NoteState();
  // Of a server that was killed.
  if (IsStoreFull(Checkpoint(SQLITE_CHECKPOINT_TRUNCATE))) MakeRoom(Room::kReserved);
  return absl::OkStatus();
}

absl::Status SqliteConnection::UseLog() {
  std::string mode;
  SINKD_RETURN_IF_ERROR(Query("PRAGMA journal_mode = WAL", {}, [&](const Row& row) {
    mode = row.Text(0);
    return true;
  }));
  if (mode == "wal") return absl::OkStatus();
  return StoreUnusable(files_->database().string(), "its file system takes no write-ahead log",
                       "name a folder on a local disk");
}

absl::Status SqliteConnection::Check() {
  std::string verdict;
  SINKD_RETURN_IF_ERROR(Query("PRAGMA quick_check(1)", {}, [&](const Row& row) {
    verdict = row.Text(0);
    return false;
  }));
  return verdict == "ok" ? absl::OkStatus() : SqliteDamaged(files_->database(), verdict);
}

absl::Status SqliteConnection::CheckWritable() {
  const int64_t log_bytes =
      log_pages_ == 0 ? 0 : kLogHeaderBytes + log_pages_ * (kLogPageHeaderBytes + page_bytes_);
  SINKD_RETURN_IF_ERROR(files_->CheckUncut(log_bytes));
  const absl::Status unchanged = files_->CheckUnchanged();
  if (unchanged.ok()) return files_->CheckRights();
  // What the log holds may be nowhere else any more.
  Checkpoint(SQLITE_CHECKPOINT_TRUNCATE).IgnoreError();
  return unchanged;
}

absl::Status SqliteConnection::Begin(Room room) {
  SINKD_RETURN_IF_ERROR(CheckWritable());
  SINKD_ASSIGN_OR_RETURN(const int64_t most_bytes, files_->MostBytes(room));
  const int64_t pages = std::clamp<int64_t>(most_bytes / page_bytes_, 1, kMostPages);
  if (pages != most_pages_) {
    const std::string sql = StrCat("PRAGMA max_page_count = ", pages);
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return Error(code);
    most_pages_ = pages;
  }
  return Execute("BEGIN IMMEDIATE").status();
}

absl::Status SqliteConnection::Commit() {
  SINKD_RETURN_IF_ERROR(Execute("COMMIT").status());
  SINKD_RETURN_IF_ERROR(CheckWritable());
  // The commit is safe in the log even if this fails.
  KeepLogShort().IgnoreError();
  return absl::OkStatus();
}

absl::Status SqliteConnection::KeepLogShort() {
  if (log_pages_ < kLogPages) return absl::OkStatus();
  if (log_pages_ < kLongLogPages) return Checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  sqlite3_busy_timeout(handle_, kShortWaitMilliseconds);
  const absl::Status status = Checkpoint(SQLITE_CHECKPOINT_RESTART);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  return status;
}

absl::Status SqliteConnection::Checkpoint(int mode) {
  int log_pages = 0, brought = 0;
  errno = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle_, "main", mode, &log_pages, &brought);
  if (code == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE) log_pages_ = 0;
  const absl::Status status = code == SQLITE_OK ? absl::OkStatus() : Error(code);
  files_->NoteGrowth();
  return status;
}

bool SqliteConnection::MakeRoom(Room room) {
  sqlite3_busy_timeout(handle_, kShortWaitMilliseconds);
  const bool emptied = Checkpoint(SQLITE_CHECKPOINT_TRUNCATE).ok();
  if (!emptied || room == Room::kReserved) files_->GiveReserve();
  if (!emptied) Checkpoint(SQLITE_CHECKPOINT_TRUNCATE).IgnoreError();
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  return true;
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

absl::StatusOr<int64_t> SqliteConnection::Integer(std::string_view sql) {
  int64_t value = 0;
  SINKD_RETURN_IF_ERROR(Query(sql, {}, [&](const Row& row) {
    value = row.Integer(0);
    return false;
  }));
  return value;
}

absl::StatusOr<bool> SqliteConnection::ReclaimSpace() {
  SINKD_RETURN_IF_ERROR(CheckWritable());
  SINKD_ASSIGN_OR_RETURN(const int64_t free_pages, Integer("PRAGMA freelist_count"));
  if (free_pages > 0) {
    SINKD_RETURN_IF_ERROR(
        Execute(StrCat("PRAGMA incremental_vacuum(", kPagesPerReclaim, ")")).status());
  }
  if (free_pages > kPagesPerReclaim) {
    KeepLogShort().IgnoreError();
    return true;
  }
  // The file is cut when the log has been brought into it.
  SINKD_RETURN_IF_ERROR(Checkpoint(SQLITE_CHECKPOINT_PASSIVE));
  return false;
}

absl::StatusOr<std::filesystem::path> SqliteConnection::Copy(const std::stop_token& stop) {
  std::filesystem::path file = files_->NewCopy();
  sqlite3* to = nullptr;
  const int code = sqlite3_open_v2(
      file.c_str(), &to,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  const absl::Status copied = code == SQLITE_OK ? CopyPages(to, stop) : Error(code);
  sqlite3_close_v2(to);
  if (copied.ok()) return file;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return copied;
}

absl::Status SqliteConnection::CopyPages(sqlite3* to, const std::stop_token& stop) {
  // Neither needs to outlive the process.
  sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr, nullptr,
               nullptr);
  // A transaction, so that all pages are of one moment, however long it takes.
  SINKD_RETURN_IF_ERROR(Execute("BEGIN").status());
  absl::Status status = Integer("SELECT COUNT(*) FROM sqlite_schema").status();
  sqlite3_backup* backup = status.ok() ? sqlite3_backup_init(to, "main", handle_, "main") : nullptr;
  int code = SQLITE_OK;
  errno = 0;
  while (backup != nullptr && code == SQLITE_OK && !stop.stop_requested()) {
    code = sqlite3_backup_step(backup, kPagesPerCopyStep);
  }
  if (status.ok() && backup == nullptr) code = sqlite3_errcode(to);
  if (status.ok() && code != SQLITE_DONE) {
    status = code == SQLITE_OK ? Cancelled("the copy is not wanted any more")
                               : SqliteError(files_->database(), code, sqlite3_errstr(code), errno);
  }
  sqlite3_backup_finish(backup);
  Rollback();
  return status;
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
  return SqliteError(files_->database(), code,
                     handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code), system_error);
}

}  // namespace sinkd
