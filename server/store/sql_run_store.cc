#include "server/store/sql_run_store.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/record_append.h"
#include "server/store/run_list.h"
#include "server/store/run_removal.h"
#include "server/store/run_rows.h"
#include "server/store/run_rules.h"
#include "server/store/schema.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr int kMaxKeysPerPage = 10'000;
constexpr int kMaxRecordsPerPage = 1000;

// False when there is a run of this id already.
absl::StatusOr<bool> InsertRun(Connection& connection, const NewRun& run, StoreTime now) {
  const std::string labels = PackLabels(run.labels);
  SINKD_ASSIGN_OR_RETURN(
      const int64_t rows,
      connection.Execute(
          "INSERT INTO runs (id, model_id, labels, spec, state, created_us, updated_us) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
          {std::string_view(run.id), std::string_view(run.model_id), Bytes{labels}, Bytes{run.spec},
           kOpenState, Microseconds(now), Microseconds(now)}));
  return rows == 1;
}

absl::Status InsertLabels(Connection& connection, int64_t run_number, const Labels& labels) {
  std::vector<Values> rows;
  for (const auto& [name, value] : labels) {
    rows.push_back({run_number, std::string_view(name), std::string_view(value)});
  }
  return connection
      .ExecuteMany("INSERT INTO run_labels (run, name, value) VALUES ($1, $2, $3)", rows)
      .status();
}

// Its name is removed as soon as it is open, so that the file disappears with the process.
class CopyFile final : public StoreCopy {
 public:
  explicit CopyFile(const std::filesystem::path& file) : in_(file, std::ios::binary) {
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(file, ignored);
    bytes_ = ignored ? 0 : static_cast<int64_t>(bytes);
    std::filesystem::remove(file, ignored);
  }

  int64_t bytes() const override { return bytes_; }

  absl::StatusOr<std::string> Next(size_t most) override {
    std::string next(static_cast<size_t>(std::min<int64_t>(left(), static_cast<int64_t>(most))),
                     '\0');
    if (!in_.read(next.data(), static_cast<std::streamsize>(next.size()))) {
      return StoreIoError("the copy of the store cannot be read");
    }
    read_ += static_cast<int64_t>(next.size());
    return next;
  }

 private:
  int64_t left() const { return bytes_ - read_; }

  std::ifstream in_;
  int64_t bytes_ = 0;
  int64_t read_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RunStore>> SqlRunStore::Open(std::unique_ptr<Database> database,
                                                            std::function<StoreTime()> now) {
  SINKD_RETURN_IF_ERROR(Migrate(*database, StoreMigrations(), now()));
  // On a full disk the store can still be read.
  const absl::Status removed = FinishRemovals(*database);
  if (!removed.ok() && !absl::IsResourceExhausted(removed)) return removed;
  return std::unique_ptr<RunStore>(new SqlRunStore(std::move(database), std::move(now)));
}

SqlRunStore::SqlRunStore(std::unique_ptr<Database> database, std::function<StoreTime()> now)
    : database_(std::move(database)), now_(std::move(now)), appends_(*database_, now_) {}

absl::StatusOr<Run> SqlRunStore::Create(const NewRun& run, IfExists if_exists) {
  SINKD_RETURN_IF_ERROR(CheckNewRun(run));
  NumberedRun created;
  SINKD_RETURN_IF_ERROR(database_->Write([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(const bool inserted, InsertRun(connection, run, now_()));
    if (!inserted && if_exists == IfExists::kFail) return RunExists(run.id);
    SINKD_ASSIGN_OR_RETURN(created, FindRun(connection, run.id));
    if (inserted) return InsertLabels(connection, created.number, run.labels);
    const bool same = created.run.model_id == run.model_id && created.run.spec == run.spec;
    return same ? absl::OkStatus() : RunSpecDiffers(run.id);
  }));
  return std::move(created.run);
}

absl::StatusOr<Run> SqlRunStore::Get(std::string_view run_id) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  NumberedRun found;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(found, FindRun(connection, run_id));
    return absl::OkStatus();
  }));
  return std::move(found.run);
}

absl::StatusOr<RunPage> SqlRunStore::List(const ListOptions& options) {
  RunPage page;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(page, ListRuns(connection, options));
    return absl::OkStatus();
  }));
  return page;
}

absl::Status SqlRunStore::SetState(std::string_view run_id, RunState state) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  return database_->Write([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(
        const int64_t rows,
        connection.Execute("UPDATE runs SET state = $2, updated_us = $3 WHERE id = $1",
                           {run_id, StateNumber(state), Microseconds(now_())}));
    return rows == 0 ? RunNotFound(run_id) : absl::OkStatus();
  });
}

absl::Status SqlRunStore::Delete(std::string_view run_id) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  SINKD_RETURN_IF_ERROR(HideRun(*database_, run_id));
  // The run is gone even if this fails; Prune and the next start try again.
  FinishRemovals(*database_).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Kept>> SqlRunStore::Append(std::string_view run_id,
                                                      std::span<const Record> records,
                                                      const AppendOptions& options) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  for (const Record& record : records) SINKD_RETURN_IF_ERROR(CheckRecord(record));
  return appends_.Append(run_id, records, options);
}

absl::StatusOr<KeyPage> SqlRunStore::ListKeys(std::string_view run_id, int64_t after, int limit) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  SINKD_RETURN_IF_ERROR(CheckRange("limit", limit, 1, kMaxKeysPerPage));
  KeyPage page;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    page = {.next_after = after};
    SINKD_ASSIGN_OR_RETURN(const int64_t number, FindRunNumber(connection, run_id));
    return connection.Query(
        "SELECT sequence, sample_key, input_digest FROM records "
        "WHERE run = $1 AND sequence > $2 ORDER BY sequence LIMIT $3",
        {number, after, int64_t{limit}}, [&](const Row& row) {
          page.next_after = row.Integer(0);
          page.keys.emplace_back(row.Text(1));
          page.input_digests.emplace_back(row.IsNull(2) ? std::string_view() : row.Text(2));
          return true;
        });
  }));
  return page;
}

absl::StatusOr<std::vector<Record>> SqlRunStore::ReadRecords(std::string_view run_id,
                                                             const ReadOptions& options) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  SINKD_RETURN_IF_ERROR(CheckRange("limit", options.limit, 1, kMaxRecordsPerPage));
  const std::string sql =
      StrCat("SELECT ", kRecordColumns, options.with_input ? ", input" : "",
             " FROM records WHERE run = $1 AND sequence > $2 ORDER BY sequence LIMIT $3");
  std::vector<Record> records;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    records.clear();
    int64_t bytes = 0;
    SINKD_ASSIGN_OR_RETURN(const int64_t number, FindRunNumber(connection, run_id));
    return connection.Query(sql, {number, options.after, int64_t{options.limit}},
                            [&](const Row& row) {
                              records.push_back(ReadRecord(row, options.with_input));
                              bytes += RecordBytes(records.back());
                              return bytes < options.max_bytes;
                            });
  }));
  return records;
}

absl::StatusOr<std::optional<Record>> SqlRunStore::Find(std::string_view run_id,
                                                        std::string_view sample_key) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  SINKD_RETURN_IF_ERROR(CheckSampleKey(sample_key));
  const std::string sql =
      StrCat("SELECT ", kRecordColumns, " FROM records WHERE run = $1 AND sample_key = $2");
  std::optional<Record> found;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    found.reset();
    SINKD_ASSIGN_OR_RETURN(const int64_t number, FindRunNumber(connection, run_id));
    return connection.Query(sql, {number, sample_key}, [&](const Row& row) {
      found = ReadRecord(row, /*with_input=*/false);
      return true;
    });
  }));
  return found;
}

absl::Status SqlRunStore::AddStudy(std::string_view run_id, const StoredStudy& study) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  SINKD_RETURN_IF_ERROR(CheckStudy(study));
  const auto bytes = static_cast<int64_t>(study.request.size() + study.report.size());
  return database_->Write([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(const int64_t number, FindRunNumber(connection, run_id));
    SINKD_RETURN_IF_ERROR(
        connection
            .Execute(
                "INSERT INTO studies (run, created_us, request, report) VALUES ($1, $2, $3, $4)",
                {number, Microseconds(now_()), Bytes{study.request}, Bytes{study.report}})
            .status());
    return connection
        .Execute("UPDATE runs SET bytes = bytes + $2 WHERE number = $1", {number, bytes})
        .status();
  });
}

absl::StatusOr<std::optional<StoredStudy>> SqlRunStore::NextStudy(std::string_view run_id,
                                                                  int64_t after) {
  SINKD_RETURN_IF_ERROR(CheckRunId(run_id));
  std::optional<StoredStudy> found;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    found.reset();
    SINKD_ASSIGN_OR_RETURN(const int64_t number, FindRunNumber(connection, run_id));
    return connection.Query(
        "SELECT number, created_us, request, report FROM studies "
        "WHERE run = $1 AND number > $2 ORDER BY number LIMIT 1",
        {number, after}, [&](const Row& row) {
          found = {.number = row.Integer(0),
                   .created = StoreTime(std::chrono::microseconds(row.Integer(1))),
                   .request = std::string(row.Text(2)),
                   .report = std::string(row.Text(3))};
          return true;
        });
  }));
  return found;
}

absl::StatusOr<Pruned> SqlRunStore::Prune(const PrunePolicy& policy) {
  return PruneRuns(*database_, policy, now_());
}

absl::StatusOr<int64_t> SqlRunStore::SizeOnDisk() {
  int64_t bytes = 0;
  SINKD_RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(bytes, connection.SizeOnDisk());
    return absl::OkStatus();
  }));
  return bytes;
}

absl::StatusOr<std::unique_ptr<StoreCopy>> SqlRunStore::Copy(const std::stop_token& stop) {
  std::filesystem::path file;
  SINKD_RETURN_IF_ERROR(database_->ReadUnchecked([&](Connection& connection) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(file, connection.Copy(stop));
    return absl::OkStatus();
  }));
  return std::make_unique<CopyFile>(file);
}

}  // namespace sinkd
