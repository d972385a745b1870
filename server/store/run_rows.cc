#include "server/store/run_rows.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/store_errors.h"

namespace sinkd {

int64_t StateNumber(RunState state) {
  return state == RunState::kOpen ? kOpenState : kCompleteState;
}

int64_t Microseconds(StoreTime time) {
  return time.time_since_epoch().count();
}

NumberedRun ReadRun(const Row& row) {
  return {.number = row.Integer(0),
          .run = {.id = std::string(row.Text(1)),
                  .model_id = std::string(row.Text(2)),
                  .labels = UnpackLabels(row.Text(3)),
                  .spec = std::string(row.Text(4)),
                  .state = row.Integer(5) == kOpenState ? RunState::kOpen : RunState::kComplete,
                  .created = StoreTime(std::chrono::microseconds(row.Integer(6))),
                  .updated = StoreTime(std::chrono::microseconds(row.Integer(7))),
                  .counts = {.samples = row.Integer(8),
                             .failed_samples = row.Integer(9),
                             .tokens = row.Integer(10),
                             .sinks = {.primary = row.Integer(11),
                                       .secondary = row.Integer(12),
                                       .noise = row.Integer(13)},
                             .bytes = row.Integer(14),
                             .samples_without_digest = row.Integer(15),
                             .arithmetics = UnpackArithmetics(row.Text(16))}}};
}

// Names and values hold no NUL, so it may end each.
std::string PackLabels(const Labels& labels) {
  std::string packed;
  for (const auto& [name, value] : labels) {
    packed.append(name).push_back('\0');
    packed.append(value).push_back('\0');
  }
  return packed;
}

Labels UnpackLabels(std::string_view packed) {
  Labels labels;
  const auto next = [&] {
    const size_t end = packed.find('\0');
    const std::string_view text = packed.substr(0, end);
    packed.remove_prefix(end == std::string_view::npos ? packed.size() : end + 1);
    return std::string(text);
  };
  while (!packed.empty()) {
    std::string name = next();
    labels[std::move(name)] = next();
  }
  return labels;
}

std::string PackArithmetics(const std::set<std::string>& arithmetics) {
  return absl::StrJoin(arithmetics, "\n");
}

std::set<std::string> UnpackArithmetics(std::string_view packed) {
  return absl::StrSplit(std::string(packed), '\n', absl::SkipEmpty());
}

Record ReadRecord(const Row& row, bool with_input) {
  Record record{
      .sequence = row.Integer(0),
      .sample_key = std::string(row.Text(1)),
      .sample_index = row.Integer(2),
      .failed = row.Integer(3) != 0,
      .tokens = row.Integer(4),
      .sinks = {.primary = row.Integer(5), .secondary = row.Integer(6), .noise = row.Integer(7)},
      .payload = std::string(row.Text(8)),
      .input_digest = std::string(row.IsNull(9) ? std::string_view() : row.Text(9)),
      .input = std::nullopt};
  if (with_input && !row.IsNull(10)) record.input = std::string(row.Text(10));
  return record;
}

absl::StatusOr<NumberedRun> FindRun(Connection& connection, std::string_view run_id) {
  std::optional<NumberedRun> found;
  SINKD_RETURN_IF_ERROR(connection.Query(StrCat("SELECT ", kRunColumns, " FROM runs WHERE id = $1"),
                                         {run_id}, [&](const Row& row) {
                                           found = ReadRun(row);
                                           return true;
                                         }));
  if (!found) return RunNotFound(run_id);
  return *std::move(found);
}

absl::StatusOr<int64_t> FindRunNumber(Connection& connection, std::string_view run_id) {
  std::optional<int64_t> number;
  SINKD_RETURN_IF_ERROR(
      connection.Query("SELECT number FROM runs WHERE id = $1", {run_id}, [&](const Row& row) {
        number = row.Integer(0);
        return true;
      }));
  if (!number) return RunNotFound(run_id);
  return *number;
}

}  // namespace sinkd
