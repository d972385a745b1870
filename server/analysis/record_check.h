// Checks a record before it is folded into a summary: records may come from a file or another
// machine, and one that contradicts itself must not reach the accumulators' indices and sums.
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/records.h"

namespace sinkd {

// INVALID_ARGUMENT naming the record and what is wrong with it (reason INCONSISTENT_RECORD).
absl::Status CheckRecord(const SampleRecord& record);

}  // namespace sinkd
