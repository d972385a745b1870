#include "server/store/postgres_connection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/postgres_errors.h"
#include "server/store/postgres_url.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

// PostgreSQL's numbers for its built-in types; they never change.
constexpr Oid kBytea = 17, kInt8 = 20, kText = 25;
constexpr int kBinary = 1;
// Answers to more statements than this could fill both ends' buffers while we still send.
constexpr size_t kPipedStatements = 256;

constexpr Dialect kDialect = {.bytes_type = "BYTEA",
                              .serial_key = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
                              .for_update = " FOR UPDATE",
                              // Any number that other users of the server are unlikely to choose.
                              .lock_schema = "SELECT pg_advisory_xact_lock(7310579546871206)"};

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

uint64_t SwapToNetwork(uint64_t value) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

class PostgresRow : public Row {
 public:
  explicit PostgresRow(const PGresult* result) : result_(result) {}
  bool IsNull(int column) const override { return PQgetisnull(result_, 0, column) == 1; }
  int64_t Integer(int column) const override {
    uint64_t value = 0;
    if (PQgetlength(result_, 0, column) == sizeof(value)) {
      std::memcpy(&value, PQgetvalue(result_, 0, column), sizeof(value));
    }
    return static_cast<int64_t>(SwapToNetwork(value));
  }
  std::string_view Text(int column) const override {
    return {PQgetvalue(result_, 0, column), static_cast<size_t>(PQgetlength(result_, 0, column))};
  }

 private:
  const PGresult* const result_;
};

// The arrays that libpq takes; they point into the values.
struct Arguments {
  std::vector<uint64_t> integers;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  std::vector<Oid> types;

  explicit Arguments(const Values& parameters)
      : integers(parameters.size()), formats(parameters.size(), kBinary) {
    for (const Value& parameter : parameters) {
      std::visit([&](const auto& value) { Add(value); }, parameter);
    }
  }

  void Add(std::monostate) { Add(nullptr, 0, kBytea); }
  void Add(int64_t value) {
    uint64_t& slot = integers[values.size()];
    slot = SwapToNetwork(static_cast<uint64_t>(value));
    Add(reinterpret_cast<const char*>(&slot), sizeof(slot), kInt8);
  }
  void Add(std::string_view text) { Add(text.data() ? text.data() : "", text.size(), kText); }
  void Add(Bytes bytes) {
    Add(bytes.value.data() ? bytes.value.data() : "", bytes.value.size(), kBytea);
  }
  void Add(const char* value, size_t length, Oid type) {
    values.push_back(value);
    lengths.push_back(static_cast<int>(length));
    types.push_back(type);
  }
  int count() const { return static_cast<int>(values.size()); }
};

bool Succeeded(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

int64_t RowsOf(PGresult* result) {
  const char* count = PQcmdTuples(result);
  return *count == '\0' ? 0 : std::strtoll(count, nullptr, 10);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> PostgresConnection::Open(const std::string& url) {
  SINKD_RETURN_IF_ERROR(PostgresUrl::Parse(url).status());
  // What the URL says overrides what stands before it.
  const std::array<const char*, 6> keywords = {"connect_timeout",           "tcp_user_timeout",
                                               "fallback_application_name", "dbname",
                                               "client_encoding",           nullptr};
  const std::array<const char*, 6> values = {"5", "10000", "sinkd", url.c_str(), "UTF8", nullptr};
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdbParams(keywords.data(), values.data(), 1)));
  if (connection->handle_ == nullptr) return Internal("no memory for a PostgreSQL connection");
  // Else libpq writes the server's remarks to stderr.
  PQsetNoticeReceiver(
      connection->handle_, [](void*, const PGresult*) {}, nullptr);
  SINKD_RETURN_IF_ERROR(connection->SetUp());
  return std::unique_ptr<Connection>(std::move(connection));
}

PostgresConnection::~PostgresConnection() {
  PQfinish(handle_);
}

const Dialect& PostgresConnection::dialect() const {
  return kDialect;
}

absl::Status PostgresConnection::SetUp() {
  statements_.clear();
  broken_ = false;
  if (lost()) return PostgresConnectError(PQerrorMessage(handle_));
  // A server may be set to answer a commit before it is on disk; and another sinkd that hangs with
  // a run locked should not hang this one.
  for (const std::string_view sql : {"SELECT set_config('synchronous_commit', 'on', false) "
                                     "WHERE current_setting('synchronous_commit') = 'off'",
                                     "SELECT set_config('lock_timeout', '10s', false) "
                                     "WHERE current_setting('lock_timeout') = '0'"}) {
    SINKD_RETURN_IF_ERROR(Execute(sql).status());
  }
  return absl::OkStatus();
}

absl::Status PostgresConnection::Reconnect() {
  PQreset(handle_);
  return SetUp();
}

absl::Status PostgresConnection::Begin(Room /*room*/) {
  absl::Status status = Execute("BEGIN").status();
  if (!status.ok() && lost()) {
    SINKD_RETURN_IF_ERROR(Reconnect());
    status = Execute("BEGIN").status();
  }
  return status;
}

absl::Status PostgresConnection::Commit() {
  const Result result(PQexec(handle_, "COMMIT"));
  if (!Succeeded(result.get())) return Error(result.get());
  // COMMIT of a transaction that met an error answers ROLLBACK, and calls that a success.
  if (std::string_view(PQcmdStatus(result.get())) != "COMMIT") {
    return Internal("PostgreSQL rolled a transaction back that should have been committed");
  }
  return absl::OkStatus();
}

void PostgresConnection::Rollback() {
  if (!lost() && PQtransactionStatus(handle_) != PQTRANS_IDLE) {
    const Result result(PQexec(handle_, "ROLLBACK"));
  }
}

absl::Status PostgresConnection::Query(std::string_view sql, const Values& parameters,
                                       const RowReader& reader) {
  SINKD_ASSIGN_OR_RETURN(const std::string name, Prepare(sql, parameters));
  SINKD_RETURN_IF_ERROR(Send(name, parameters));
  PQsetSingleRowMode(handle_);
  return ReadRows(reader);
}

absl::StatusOr<std::vector<int64_t>> PostgresConnection::ExecuteMany(
    std::string_view sql, std::span<const Values> parameters) {
  std::vector<int64_t> rows;
  if (parameters.empty()) return rows;
  SINKD_ASSIGN_OR_RETURN(const std::string name, Prepare(sql, parameters.front()));
  if (parameters.size() == 1) {
    const Arguments arguments(parameters.front());
    const Result result(PQexecPrepared(handle_, name.c_str(), arguments.count(),
                                       arguments.values.data(), arguments.lengths.data(),
                                       arguments.formats.data(), kBinary));
    if (!Succeeded(result.get())) return Error(result.get());
    return std::vector<int64_t>{RowsOf(result.get())};
  }
  rows.reserve(parameters.size());
  for (size_t begin = 0; begin < parameters.size(); begin += kPipedStatements) {
    const size_t count = std::min(kPipedStatements, parameters.size() - begin);
    SINKD_RETURN_IF_ERROR(SendPiped(name, parameters.subspan(begin, count), rows));
  }
  return rows;
}

absl::StatusOr<std::filesystem::path> PostgresConnection::Copy(const std::stop_token& /*stop*/) {
  return FailedPrecondition("runs are kept in PostgreSQL, which has its own backups",
                            {.reason = "BACKUP_NOT_HERE",
                             .subject = "store",
                             .fix = "use pg_dump, as docs/operations.md shows"});
}

absl::StatusOr<int64_t> PostgresConnection::SizeOnDisk() {
  int64_t bytes = 0;
  SINKD_RETURN_IF_ERROR(
      Query("SELECT CAST(SUM(pg_total_relation_size(CAST(name AS regclass))) AS "
            "BIGINT) FROM (VALUES ('runs'), ('run_labels'), ('records'), ('studies')) AS t "
            "(name)",
            {}, [&](const Row& row) {
              bytes = row.Integer(0);
              return true;
            }));
  return bytes;
}

absl::StatusOr<std::string> PostgresConnection::Prepare(std::string_view sql,
                                                        const Values& parameters) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  const std::string name = StrCat("s", statements_.size());
  const Arguments arguments(parameters);
  const Result result(PQprepare(handle_, name.c_str(), std::string(sql).c_str(), arguments.count(),
                                arguments.types.data()));
  if (!Succeeded(result.get())) return Error(result.get());
  statements_.emplace(sql, name);
  return name;
}

absl::Status PostgresConnection::Send(const std::string& name, const Values& parameters) {
  const Arguments arguments(parameters);
  const int sent =
      PQsendQueryPrepared(handle_, name.c_str(), arguments.count(), arguments.values.data(),
                          arguments.lengths.data(), arguments.formats.data(), kBinary);
  return sent == 1 ? absl::OkStatus() : Error(nullptr);
}

absl::Status PostgresConnection::SendPiped(const std::string& name,
                                           std::span<const Values> parameters,
                                           std::vector<int64_t>& rows) {
  if (PQenterPipelineMode(handle_) != 1) return Error(nullptr);
  absl::Status status;
  for (const Values& values : parameters) status.Update(Send(name, values));
  if (status.ok() && PQpipelineSync(handle_) != 1) status = Error(nullptr);
  // Each statement returns its result and a null; the sync point returns a result as well.
  bool ended = lost();
  while (!ended) {
    const Result result(PQgetResult(handle_));
    if (result == nullptr) {
      ended = lost();
      continue;
    }
    const ExecStatusType kind = PQresultStatus(result.get());
    ended = kind == PGRES_PIPELINE_SYNC || lost();
    // libpq may hand rows out one by one here too when a query before did so; their end counts
    // them.
    if (kind == PGRES_PIPELINE_SYNC || kind == PGRES_SINGLE_TUPLE) continue;
    if (Succeeded(result.get())) {
      rows.push_back(RowsOf(result.get()));
    } else if (kind != PGRES_PIPELINE_ABORTED) {
      status.Update(Error(result.get()));
    }
  }
  if (status.ok() && lost()) status = Error(nullptr);
  PQexitPipelineMode(handle_);
  return status;
}

absl::Status PostgresConnection::ReadRows(const RowReader& reader) {
  absl::Status status;
  bool wanted = true;
  while (const Result result = Result(PQgetResult(handle_))) {
    if (PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE) {
      if (wanted && !reader(PostgresRow(result.get()))) {
        wanted = false;
        Cancel();
      }
    } else if (!Succeeded(result.get()) && wanted) {
      status.Update(Error(result.get()));
    }
  }
  return status;
}

// What is left of an answer is still read, so that the connection can be used again.
void PostgresConnection::Cancel() {
  PGcancel* cancel = PQgetCancel(handle_);
  std::array<char, 256> message = {};
  PQcancel(cancel, message.data(), message.size());
  PQfreeCancel(cancel);
}

absl::Status PostgresConnection::Error(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  // An error without a SQLSTATE is libpq's own: it could not send or receive.
  broken_ = broken_ || state == nullptr;
  if (lost()) return StoreUnreachable(Shorten(PQerrorMessage(handle_), 300));
  return PostgresError(state, message ? message : PQresultErrorMessage(result));
}

}  // namespace sinkd
