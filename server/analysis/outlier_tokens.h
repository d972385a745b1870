// OutlierTokens: the tokens of which few entries of the MLP's input dwarf the rest. Quantization
// with one scale for many values is coarsest there.
//
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <span>

#include <absl/status/status.h>

#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

inline constexpr size_t kMostOutliers = 100;  // listed

// Nothing if the trace does not hold the ratios. `token_ids` are [T].
void FillOutlierTokens(const Trace& trace, std::span<const int32_t> token_ids,
                       v1::SampleRecord& record);

// The outliers of a record, if it counts them (record_part.h).
absl::Status CheckOutlierTokens(const v1::SampleRecord& record);

}  // namespace sinkd
