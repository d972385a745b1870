// Connection to an SQLite file with a write-ahead log and a sync at every commit, so that a commit
// that returned survives a power failure.
//
// The process has exclusive use of the file (SQLite's unix-excl): no other program can checkpoint
// or delete the log, and the log's index is in the process's memory, where nobody can truncate it.
// Commits and reads fail once a file has been changed by others (sqlite_files.h).
//
// Thread-safety: one thread at a time. Several connections of the process to one file work
// concurrently, and only writes wait for each other.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "server/store/connection.h"
#include "server/store/sqlite_files.h"

namespace sinkd {

class SqliteConnection : public Connection {
 public:
  enum class Use { kWrite, kRead };

  // `files` must be prepared. kWrite checks the whole file.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(std::shared_ptr<SqliteFiles> files,
                                                          Use use);
  ~SqliteConnection() override;

  const Dialect& dialect() const override;
  absl::Status Begin(Room room) override;
  absl::Status Commit() override;
  void Rollback() override;
  absl::Status Query(std::string_view sql, const Values& parameters,
                     const RowReader& reader) override;
  absl::StatusOr<std::vector<int64_t>> ExecuteMany(std::string_view sql,
                                                   std::span<const Values> parameters) override;
  bool lost() const override { return false; }
  absl::Status Reconnect() override { return absl::OkStatus(); }
  bool MakeRoom(Room room) override;
  absl::Status CheckFiles() override { return files_->CheckUnchanged(); }
  absl::StatusOr<bool> ReclaimSpace() override;
  absl::StatusOr<int64_t> SizeOnDisk() override { return files_->SizeOnDisk(); }
  absl::StatusOr<std::filesystem::path> Copy(const std::stop_token& stop) override;

 private:
  struct Statement {
    sqlite3_stmt* handle = nullptr;
    std::vector<int> indexes;  // of $1, $2, ... in SQLite's parameters
  };

  SqliteConnection(std::shared_ptr<SqliteFiles> files, sqlite3* handle);
  absl::Status SetUp(Use use);
  absl::Status UseLog();
  absl::Status Check();
  absl::Status CheckWritable();
  // Checkpoints the log into the file, as far as readers allow; `mode` is SQLite's.
  absl::Status Checkpoint(int mode);
  absl::Status KeepLogShort();
  absl::StatusOr<int64_t> Integer(std::string_view sql);
  absl::Status CopyPages(sqlite3* to, const std::stop_token& stop);
  absl::StatusOr<Statement*> Prepare(std::string_view sql);
  absl::Status Bind(const Statement& statement, const Values& parameters);
  // Steps to the end, or until the reader stops; returns the number of rows found or changed.
  absl::StatusOr<int64_t> Step(const Statement& statement, const RowReader& reader);
  absl::Status Error(int code) const;

  const std::shared_ptr<SqliteFiles> files_;
  sqlite3* const handle_;
  int64_t page_bytes_ = 0;
  int log_pages_ = 0;       // written by this connection since the log was last reset
  int64_t most_pages_ = 0;  // the limit that SQLite has
  std::map<std::string, Statement, std::less<>> statements_;
};

}  // namespace sinkd
