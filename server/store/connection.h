// Connection: the store's interface to a database. SQL is the common subset of SQLite and
// PostgreSQL, with parameters $1, $2, ...; where they differ, the text comes from a Dialect.
//
// Thread-safety: one thread at a time.
// Errors: statuses of store_errors.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd {

struct Bytes {
  std::string_view value;
};
// NULL, a 64-bit integer, UTF-8 text, or bytes. Views are not used after the call returns.
using Value = std::variant<std::monostate, int64_t, std::string_view, Bytes>;
using Values = std::vector<Value>;

// The current row, valid within a RowReader. Columns count from 0.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool IsNull(int column) const = 0;
  virtual int64_t Integer(int column) const = 0;        // a BIGINT column
  virtual std::string_view Text(int column) const = 0;  // text or bytes
};

// Returns whether to read the next row.
using RowReader = std::function<bool(const Row&)>;

// Differences between the databases' SQL.
struct Dialect {
  std::string_view bytes_type;
  std::string_view serial_key;   // type of a primary key that numbers rows and reuses no number
  std::string_view for_update;   // at the end of a SELECT: lock the rows until the transaction ends
  std::string_view lock_schema;  // a statement that admits one migration at a time; or empty
};

// The disk space that a transaction may use.
enum class Room {
  kOrdinary,
  kReserved,  // including the reserve for removing runs
};

class Connection {
 public:
  virtual ~Connection() = default;

  virtual const Dialect& dialect() const = 0;

  // A write transaction. Begin restores a lost connection.
  virtual absl::Status Begin(Room room) = 0;
  virtual absl::Status Commit() = 0;
  virtual void Rollback() = 0;

  // Runs one statement; outside a transaction, it is a transaction by itself.
  virtual absl::Status Query(std::string_view sql, const Values& parameters,
                             const RowReader& reader) = 0;
  // Runs a statement for each set of parameters; returns the rows that each changed or found.
  virtual absl::StatusOr<std::vector<int64_t>> ExecuteMany(std::string_view sql,
                                                           std::span<const Values> parameters) = 0;

  // True if the connection was lost, so that a retry after Reconnect may succeed.
  virtual bool lost() const = 0;
  virtual absl::Status Reconnect() = 0;

  // Makes room after STORE_FULL, outside a transaction. True if a retry may succeed.
  virtual bool MakeRoom(Room room) = 0;
  // OK, or the problem with the database's files (STORE_CHANGED).
  virtual absl::Status CheckFiles() = 0;

  // Returns the space of deleted rows to the system, in small steps, outside a transaction.
  // True if there is more to do.
  virtual absl::StatusOr<bool> ReclaimSpace() = 0;
  virtual absl::StatusOr<int64_t> SizeOnDisk() = 0;

  // Writes a consistent copy of the database to a new file and returns its path.
  // FAILED_PRECONDITION BACKUP_NOT_HERE if the database has its own backup tools; CANCELLED.
  virtual absl::StatusOr<std::filesystem::path> Copy(const std::stop_token& stop) = 0;

  // Returns the number of rows that the statement changed or found.
  absl::StatusOr<int64_t> Execute(std::string_view sql, const Values& parameters = {});
};

using Connect = std::function<absl::StatusOr<std::unique_ptr<Connection>>()>;

}  // namespace sinkd
