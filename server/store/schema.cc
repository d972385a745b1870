#include "server/store/schema.h"

#include <algorithm>

#include <absl/strings/str_replace.h>

#include "server/base/status.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

// State 2 is a run that is being removed; its id is free again (run_removal.h). `labels` repeats
// run_labels so that a run can be read at once; run_labels serves to find runs.
const Migration kMigrations[] = {
    {.version = 1,
     .statements =
         {
             R"(CREATE TABLE runs (
                  number {serial_key},
                  id TEXT NOT NULL UNIQUE,
                  model_id TEXT NOT NULL,
                  labels {bytes} NOT NULL,
                  spec {bytes} NOT NULL,
                  state BIGINT NOT NULL,
                  created_us BIGINT NOT NULL,
                  updated_us BIGINT NOT NULL,
                  samples BIGINT NOT NULL DEFAULT 0,
                  failed_samples BIGINT NOT NULL DEFAULT 0,
                  tokens BIGINT NOT NULL DEFAULT 0,
                  primary_sinks BIGINT NOT NULL DEFAULT 0,
                  secondary_sinks BIGINT NOT NULL DEFAULT 0,
                  noise_sinks BIGINT NOT NULL DEFAULT 0,
                  bytes BIGINT NOT NULL DEFAULT 0))",
             "CREATE INDEX runs_by_time ON runs (created_us, number)",
             "CREATE INDEX runs_by_model ON runs (model_id, created_us, number)",
             "CREATE INDEX runs_by_state ON runs (state, updated_us, number)",
             R"(CREATE TABLE run_labels (
                  run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
                  name TEXT NOT NULL,
                  value TEXT NOT NULL,
                  PRIMARY KEY (run, name)))",
             "CREATE INDEX run_labels_by_value ON run_labels (name, value, run)",
             R"(CREATE TABLE records (
                  run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
                  sequence BIGINT NOT NULL,
                  sample_key TEXT NOT NULL,
                  sample_index BIGINT NOT NULL,
                  failed BIGINT NOT NULL,
                  tokens BIGINT NOT NULL,
                  primary_sinks BIGINT NOT NULL,
                  secondary_sinks BIGINT NOT NULL,
                  noise_sinks BIGINT NOT NULL,
                  payload {bytes} NOT NULL,
                  input {bytes},
                  PRIMARY KEY (run, sequence),
                  UNIQUE (run, sample_key)))",
         }},
    {.version = 2,
     .statements =
         {
             R"(CREATE TABLE studies (
                  number {serial_key},
                  run BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
                  created_us BIGINT NOT NULL,
                  request {bytes} NOT NULL,
                  report {bytes} NOT NULL))",
             "CREATE INDEX studies_by_run ON studies (run, number)",
         }},
    // Records that were there before have no digest of their input, and are counted.
    {.version = 3,
     .statements =
         {
             "ALTER TABLE records ADD COLUMN input_digest {bytes}",
             "ALTER TABLE runs ADD COLUMN samples_without_digest BIGINT NOT NULL DEFAULT 0",
             "UPDATE runs SET samples_without_digest = samples",
         }},
    {.version = 4,
     .statements =
         {
             // One a line. How records were computed that were there before is not known.
             "ALTER TABLE runs ADD COLUMN arithmetics TEXT NOT NULL DEFAULT ''",
         }},
};

absl::StatusOr<int64_t> CurrentVersion(Connection& connection) {
  int64_t version = 0;
  SINKD_RETURN_IF_ERROR(connection.Query("SELECT COALESCE(MAX(version), 0) FROM schema_versions",
                                         {}, [&](const Row& row) {
                                           version = row.Integer(0);
                                           return false;
                                         }));
  return version;
}

absl::Status Apply(Connection& connection, const Migration& migration, StoreTime now) {
  const Dialect& dialect = connection.dialect();
  for (const std::string_view statement : migration.statements) {
    const std::string sql = absl::StrReplaceAll(
        std::string(statement), {{"{bytes}", std::string(dialect.bytes_type)},
                                 {"{serial_key}", std::string(dialect.serial_key)}});
    SINKD_RETURN_IF_ERROR(connection.Execute(sql).status());
  }
  return connection
      .Execute("INSERT INTO schema_versions (version, applied_us) VALUES ($1, $2)",
               {migration.version, int64_t{now.time_since_epoch().count()}})
      .status();
}

}  // namespace

std::span<const Migration> StoreMigrations() {
  return kMigrations;
}

absl::Status Migrate(Database& database, std::span<const Migration> migrations, StoreTime now) {
  const auto migrate = [&](Connection& connection) -> absl::Status {
    const std::string_view lock = connection.dialect().lock_schema;
    if (!lock.empty()) SINKD_RETURN_IF_ERROR(connection.Execute(lock).status());
    SINKD_RETURN_IF_ERROR(connection
                              .Execute("CREATE TABLE IF NOT EXISTS schema_versions "
                                       "(version BIGINT PRIMARY KEY, applied_us BIGINT NOT NULL)")
                              .status());
    SINKD_ASSIGN_OR_RETURN(const int64_t version, CurrentVersion(connection));
    const int64_t last = migrations.empty() ? 0 : migrations.back().version;
    if (version > last) return StoreTooNew(version, last);
    for (const Migration& migration : migrations) {
      if (migration.version > version) {
        SINKD_RETURN_IF_ERROR(Apply(connection, migration, now));
      }
    }
    return absl::OkStatus();
  };
  return database.Write(migrate, Room::kReserved);
}

}  // namespace sinkd
