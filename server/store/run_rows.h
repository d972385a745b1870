// Runs and records as rows of the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/store/connection.h"
#include "server/store/run_store.h"

namespace sinkd {

// Values of the column runs.state.
inline constexpr int64_t kOpenState = 0, kCompleteState = 1, kRemovedState = 2;
int64_t StateNumber(RunState state);

int64_t Microseconds(StoreTime time);

// "SELECT <these> FROM runs", and the run in such a row.
inline constexpr std::string_view kRunColumns =
    "number, id, model_id, labels, spec, state, created_us, updated_us, samples, failed_samples, "
    "tokens, primary_sinks, secondary_sinks, noise_sinks, bytes, samples_without_digest, "
    "arithmetics";
struct NumberedRun {
  int64_t number = 0;
  Run run;
};
NumberedRun ReadRun(const Row& row);

// Converts labels to one value and back.
std::string PackLabels(const Labels& labels);
Labels UnpackLabels(std::string_view packed);

// RunCounts::arithmetics as one value, and back.
std::string PackArithmetics(const std::set<std::string>& arithmetics);
std::set<std::string> UnpackArithmetics(std::string_view packed);

// "SELECT <these> FROM records"; with_input appends ", input".
inline constexpr std::string_view kRecordColumns =
    "sequence, sample_key, sample_index, failed, tokens, primary_sinks, secondary_sinks, "
    "noise_sinks, payload, input_digest";
Record ReadRecord(const Row& row, bool with_input);

// The run with this id, or RUN_NOT_FOUND.
absl::StatusOr<NumberedRun> FindRun(Connection& connection, std::string_view run_id);
// The same at less cost.
absl::StatusOr<int64_t> FindRunNumber(Connection& connection, std::string_view run_id);

}  // namespace sinkd
