// Checks a record before it is folded into a summary: records may come from a file or another
// machine, and one that contradicts itself must not reach the accumulators' indices and sums.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include <absl/status/status.h>

#include "server/analysis/records.h"

namespace sinkd {

// Of a model.
inline constexpr int64_t kMostLayers = 65'536;

// A whole record, its parts joined. INVALID_ARGUMENT naming the record, the field, its value and
// what it may be (reason INCONSISTENT_RECORD).
absl::Status CheckRecord(const v1::SampleRecord& record);

}  // namespace sinkd
