// Connection to a PostgreSQL server through libpq. Values travel in binary form.
//
// Uses libpq directly, because the C++ libraries above it use exceptions and text.
// Thread-safety: one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "server/store/connection.h"

namespace sinkd {

class PostgresConnection : public Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& url);
  ~PostgresConnection() override;

  const Dialect& dialect() const override;
  absl::Status Begin(Room room) override;
  absl::Status Commit() override;
  void Rollback() override;
  absl::Status Query(std::string_view sql, const Values& parameters,
                     const RowReader& reader) override;
  absl::StatusOr<std::vector<int64_t>> ExecuteMany(std::string_view sql,
                                                   std::span<const Values> parameters) override;
  bool lost() const override { return broken_ || PQstatus(handle_) != CONNECTION_OK; }
  absl::Status Reconnect() override;
  bool MakeRoom(Room /*room*/) override { return false; }
  absl::Status CheckFiles() override { return absl::OkStatus(); }
  // PostgreSQL does this by itself (autovacuum).
  absl::StatusOr<bool> ReclaimSpace() override { return false; }
  absl::StatusOr<int64_t> SizeOnDisk() override;
  absl::StatusOr<std::filesystem::path> Copy(const std::stop_token& stop) override;

 private:
  explicit PostgresConnection(PGconn* handle) : handle_(handle) {}
  absl::Status SetUp();
  // The name of the statement on the server; prepares a new one.
  absl::StatusOr<std::string> Prepare(std::string_view sql, const Values& parameters);
  absl::Status Send(const std::string& name, const Values& parameters);
  absl::Status SendPiped(const std::string& name, std::span<const Values> parameters,
                         std::vector<int64_t>& rows);
  absl::Status ReadRows(const RowReader& reader);
  void Cancel();
  // The error of the result, or of the connection if there is no result.
  absl::Status Error(const PGresult* result);

  PGconn* const handle_;
  bool broken_ = false;
  std::map<std::string, std::string, std::less<>> statements_;  // SQL to name
};

}  // namespace sinkd
