// OutlierTokens: the tokens of which few entries of the MLP's input dwarf the rest. Quantization
// with one scale for many values is coarsest there.
//
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// Empty if the trace does not hold the ratios. `token_ids` are [T].
std::optional<OutlierTokens> FindOutlierTokens(const Trace& trace,
                                               std::span<const int32_t> token_ids);

}  // namespace sinkd
