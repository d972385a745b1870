// Connection: what the store asks of a database. SQL is the subset that SQLite and PostgreSQL
// share, with parameters $1, $2, ...; where they differ, the text comes from a Dialect.
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
// NULL, a 64-bit integer, UTF-8 text, or bytes. Views are read before the call returns.
using Value = std::variant<std::monostate, int64_t, std::string_view, Bytes>;
using Values = std::vector<Value>;

// The row at hand, valid inside a RowReader. Columns count from 0.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool IsNull(int column) const = 0;
  virtual int64_t Integer(int column) const = 0;        // a BIGINT column
  virtual std::string_view Text(int column) const = 0;  // text or bytes
};

// Says whether the next row is wanted.
using RowReader = std::function<bool(const Row&)>;

// Where the databases' SQL differs.
struct Dialect {
  std::string_view bytes_type;
  std::string_view serial_key;   // type of a primary key that numbers its rows and reuses none
  std::string_view for_update;   // at the end of a SELECT: lock the rows until the transaction ends
  std::string_view lock_schema;  // a statement that lets one migration at a time pass; or empty
};

// What room on the disk a transaction may take.
enum class Room {
  kOrdinary,
  kReserved,  // that which is kept for removing runs, too
};

class Connection {
 public:
  virtual ~Connection() = default;

  virtual const Dialect& dialect() const = 0;

  // A transaction that writes. Begin makes a lost connection anew.
  virtual absl::Status Begin(Room room) = 0;
  virtual absl::Status Commit() = 0;
  virtual void Rollback() = 0;

  // One statement; outside a transaction it is one of its own.
  virtual absl::Status Query(std::string_view sql, const Values& parameters,
                             const RowReader& reader) = 0;
  // The same statement for each set of parameters: how many rows each changed or found.
  virtual absl::StatusOr<std::vector<int64_t>> ExecuteMany(std::string_view sql,
                                                           std::span<const Values> parameters) = 0;

  // True when the connection was lost, so that what failed may be tried again after Reconnect.
  virtual bool lost() const = 0;
  virtual absl::Status Reconnect() = 0;

  // After STORE_FULL, outside a transaction. True when the same may be tried again.
  virtual bool MakeRoom(Room room) = 0;
  // OK, or what became of the database's files (STORE_CHANGED).
  virtual absl::Status CheckFiles() = 0;

  // Gives the room of deleted rows back to the system, in small steps, outside a transaction.
  // True when there is more to do.
  virtual absl::StatusOr<bool> ReclaimSpace() = 0;
  virtual absl::StatusOr<int64_t> SizeOnDisk() = 0;

  // All that the database holds at this moment, written to a new file, whose path is returned.
  // FAILED_PRECONDITION BACKUP_NOT_HERE where the database has its own means; CANCELLED.
  virtual absl::StatusOr<std::filesystem::path> Copy(const std::stop_token& stop) = 0;

  // How many rows the statement changed or found.
  absl::StatusOr<int64_t> Execute(std::string_view sql, const Values& parameters = {});
};

using Connect = std::function<absl::StatusOr<std::unique_ptr<Connection>>()>;

}  // namespace sinkd
