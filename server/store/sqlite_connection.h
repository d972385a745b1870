// Connection to a SQLite file: write-ahead log, every commit synced, so that a commit that returned
// survives a power cut.
//
// Thread-safety: one thread at a time; several connections to one file go on side by side, and only
// writes wait for each other.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "server/store/connection.h"

namespace sinkd {

class SqliteConnection : public Connection {
 public:
  enum class Use { kWrite, kRead };

  // Makes the file, for this user alone, when there is none. With kWrite the whole file is checked.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::filesystem::path& file,
                                                          Use use);
  ~SqliteConnection() override;

  const Dialect& dialect() const override;
  absl::Status Begin() override;
  absl::Status Commit() override;
  void Rollback() override;
  absl::Status Query(std::string_view sql, const Values& parameters,
                     const RowReader& reader) override;
  absl::StatusOr<std::vector<int64_t>> ExecuteMany(std::string_view sql,
                                                   std::span<const Values> parameters) override;
  bool lost() const override { return false; }
  absl::Status Reconnect() override { return absl::OkStatus(); }
  absl::StatusOr<bool> ReclaimSpace() override;
  absl::StatusOr<int64_t> SizeOnDisk() override;

 private:
  struct Statement {
    sqlite3_stmt* handle = nullptr;
    std::vector<int> indexes;  // of $1, $2, ... among SQLite's parameters
  };

  SqliteConnection(std::filesystem::path file, sqlite3* handle);
  absl::Status SetUp(Use use);
  absl::Status UseLog();
  absl::Status Check();
  absl::StatusOr<Statement*> Prepare(std::string_view sql);
  absl::Status Bind(const Statement& statement, const Values& parameters);
  // Steps to the end, or until the reader wants no more: how many rows were found or changed.
  absl::StatusOr<int64_t> Step(const Statement& statement, const RowReader& reader);
  absl::Status Error(int code) const;

  const std::filesystem::path file_;
  sqlite3* const handle_;
  std::map<std::string, Statement, std::less<>> statements_;
};

}  // namespace sinkd
