#include "server/store/record_append.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/run_rows.h"
#include "server/store/run_rules.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr std::string_view kInsert =
    "INSERT INTO records (run, sequence, sample_key, sample_index, failed, tokens, primary_sinks, "
    "secondary_sinks, noise_sinks, payload, input, input_digest) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

constexpr std::string_view kReplace =
    "UPDATE records SET sample_index = $4, failed = $5, tokens = $6, primary_sinks = $7, "
    "secondary_sinks = $8, noise_sinks = $9, payload = $10, input = $11, input_digest = $12 "
    "WHERE run = $1 AND sequence = $2 AND sample_key = $3";

constexpr std::string_view kCount =
    "UPDATE runs SET updated_us = $2, samples = samples + $3, failed_samples = failed_samples + "
    "$4, "
    "tokens = tokens + $5, primary_sinks = primary_sinks + $6, "
    "secondary_sinks = secondary_sinks + $7, noise_sinks = noise_sinks + $8, bytes = bytes + $9, "
    "samples_without_digest = samples_without_digest + $10, arithmetics = $11 WHERE number = $1";

struct RunPosition {
  int64_t number = 0;
  int64_t state = kOpenState;
  int64_t samples = 0;
  std::set<std::string> arithmetics;
};

// Locked until the transaction ends, so that sequences have no gaps and appear in order.
absl::StatusOr<std::optional<RunPosition>> LockRun(Connection& connection,
                                                   std::string_view run_id) {
  std::optional<RunPosition> found;
  SINKD_RETURN_IF_ERROR(connection.Query(
      StrCat("SELECT number, state, samples, arithmetics FROM runs WHERE id = $1",
             connection.dialect().for_update),
      {run_id}, [&](const Row& row) {
        found = {row.Integer(0), row.Integer(1), row.Integer(2), UnpackArithmetics(row.Text(3))};
        return true;
      }));
  return found;
}

// An entry a record: neither in the run nor earlier among the records.
absl::StatusOr<std::vector<bool>> FindNew(Connection& connection, const RunPosition& run,
                                          std::span<const Record> records) {
  std::vector<std::string_view> keys;
  keys.reserve(records.size());
  for (const Record& record : records) keys.push_back(record.sample_key);
  std::vector<bool> held(keys.size(), false);
  if (run.samples > 0) {
    SINKD_ASSIGN_OR_RETURN(held, FindKeys(connection, run.number, keys));
  }
  std::unordered_set<std::string_view> seen;
  std::vector<bool> is_new;
  for (size_t i = 0; i < keys.size(); ++i)
    is_new.push_back(seen.insert(keys[i]).second && !held[i]);
  return is_new;
}

// Adds the record to the counts, or with -1 takes it out; how it was computed stays.
void Count(const Record& record, int64_t times, RunCounts& counts) {
  if (!record.arithmetic.empty() && counts.arithmetics.size() < kMostArithmetics) {
    counts.arithmetics.insert(record.arithmetic);
  }
  counts.samples += times;
  counts.failed_samples += record.failed ? times : 0;
  counts.tokens += times * record.tokens;
  counts.sinks.primary += times * record.sinks.primary;
  counts.sinks.secondary += times * record.sinks.secondary;
  counts.sinks.noise += times * record.sinks.noise;
  counts.bytes += times * RecordBytes(record);
  counts.samples_without_digest += record.input_digest.empty() ? times : 0;
}

Values RecordValues(const Record& record, int64_t run_number, int64_t sequence) {
  return {run_number,
          sequence,
          std::string_view(record.sample_key),
          record.sample_index,
          int64_t{record.failed},
          record.tokens,
          record.sinks.primary,
          record.sinks.secondary,
          record.sinks.noise,
          Bytes{record.payload},
          record.input ? Value(Bytes{*record.input}) : Value(),
          record.input_digest.empty() ? Value() : Value(Bytes{record.input_digest})};
}

bool IsSameSample(const Record& held, const Record& record, const AppendOptions& options) {
  if (!held.input_digest.empty() && !record.input_digest.empty()) {
    return held.input_digest == record.input_digest;
  }
  if (options.compare_payloads) {
    return held.failed == record.failed && held.payload == record.payload;
  }
  return !options.replace;
}

// A record whose key the run holds.
absl::StatusOr<Kept> Reconcile(Connection& connection, int64_t run_number, const Record& record,
                               const AppendOptions& options, RunCounts& counts) {
  std::optional<Record> held;
  SINKD_RETURN_IF_ERROR(connection.Query(
      StrCat("SELECT ", kRecordColumns, ", input FROM records WHERE run = $1 AND sample_key = $2"),
      {run_number, std::string_view(record.sample_key)}, [&](const Row& row) {
        held = ReadRecord(row, /*with_input=*/true);
        return true;
      }));
  if (!held) return Internal("a record that was found is not there");
  if (IsSameSample(*held, record, options)) return Kept::kHeld;
  if (!options.replace) return Kept::kDiffers;
  SINKD_RETURN_IF_ERROR(
      connection.Execute(kReplace, RecordValues(record, run_number, held->sequence)).status());
  Count(*held, -1, counts);
  Count(record, 1, counts);
  return Kept::kReplaced;
}

}  // namespace

absl::Status AppendRecords(Connection& connection, StoreTime now, AppendRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::optional<RunPosition> run, LockRun(connection, request.run_id));
  if (!run || run->state != kOpenState) {
    request.answer = run ? RunComplete(request.run_id) : RunNotFound(request.run_id);
    return absl::OkStatus();
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<bool> is_new,
                         FindNew(connection, *run, request.records));
  RunCounts counts{.arithmetics = run->arithmetics};
  std::vector<Values> rows;
  for (size_t i = 0; i < request.records.size(); ++i) {
    if (!is_new[i]) continue;
    Count(request.records[i], 1, counts);
    rows.push_back(RecordValues(request.records[i], run->number, run->samples + counts.samples));
  }
  if (!rows.empty()) SINKD_RETURN_IF_ERROR(connection.ExecuteMany(kInsert, rows).status());
  std::vector<Kept> kept(is_new.size(), Kept::kAdded);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (is_new[i]) continue;
    SINKD_ASSIGN_OR_RETURN(
        kept[i], Reconcile(connection, run->number, request.records[i], request.options, counts));
  }
  const bool changed = std::any_of(kept.begin(), kept.end(), [](Kept one) {
    return one == Kept::kAdded || one == Kept::kReplaced;
  });
  request.answer = std::move(kept);
  if (!changed) return absl::OkStatus();
  const std::string arithmetics = PackArithmetics(counts.arithmetics);
  return connection
      .Execute(kCount,
               {run->number, Microseconds(now), counts.samples, counts.failed_samples,
                counts.tokens, counts.sinks.primary, counts.sinks.secondary, counts.sinks.noise,
                counts.bytes, counts.samples_without_digest, std::string_view(arithmetics)})
      .status();
}

absl::StatusOr<std::vector<bool>> FindKeys(Connection& connection, int64_t run_number,
                                           std::span<const std::string_view> keys) {
  std::vector<Values> sets;
  sets.reserve(keys.size());
  for (const std::string_view key : keys) sets.push_back({run_number, key});
  SINKD_ASSIGN_OR_RETURN(
      const std::vector<int64_t> rows,
      connection.ExecuteMany("SELECT sequence FROM records WHERE run = $1 AND sample_key = $2",
                             sets));
  std::vector<bool> held;
  held.reserve(rows.size());
  for (const int64_t count : rows) held.push_back(count > 0);
  return held;
}

}  // namespace sinkd
