// Connection to a SQLite file: write-ahead log, every commit synced, so that a commit that returned
// survives a power cut.
//
// The process keeps the file to itself (SQLite's unix-excl): no other program can bring the log in
// or take it away, and the log's index is in memory of the process's own, where nobody can cut it.
// A commit or read is an error once a file is not there as it was left (sqlite_files.h).
//
// Thread-safety: one thread at a time; several connections of the process to one file go on side by
// side, and only writes wait for each other.
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

  // `files` have been prepared. With kWrite the whole file is checked.
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
    std::vector<int> indexes;  // of $1, $2, ... among SQLite's parameters
  };

  SqliteConnection(std::shared_ptr<SqliteFiles> files, sqlite3* handle);
  absl::Status SetUp(Use use);
  absl::Status UseLog();
  absl::Status Check();
  absl::Status CheckWritable();
  // Brings what is in the log into the file, as far as readers let it; `mode` is SQLite's.
  absl::Status Checkpoint(int mode);
  absl::Status KeepLogShort();
  absl::StatusOr<int64_t> Integer(std::string_view sql);
  absl::Status CopyPages(sqlite3* to, const std::stop_token& stop);
  absl::StatusOr<Statement*> Prepare(std::string_view sql);
  absl::Status Bind(const Statement& statement, const Values& parameters);
  // Steps to the end, or until the reader wants no more: how many rows were found or changed.
  absl::StatusOr<int64_t> Step(const Statement& statement, const RowReader& reader);
  absl::Status Error(int code) const;

  const std::shared_ptr<SqliteFiles> files_;
  sqlite3* const handle_;
  int64_t page_bytes_ = 0;
  int log_pages_ = 0;       // in the log since it was begun anew, this connection's
  int64_t most_pages_ = 0;  // that SQLite was told
  std::map<std::string, Statement, std::less<>> statements_;
};

}  // namespace sinkd
