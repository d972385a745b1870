// The weakest block of a sample (definitions: Compensation).
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <optional>

#include "server/analysis/records.h"

namespace sinkd {

// The first block that pays the primary sink the least attention, of those with attention that read
// a state of its window [start, end): among blocks start + 1 to end. Nothing where no block does,
// or without curves.
std::optional<int32_t> WeakestBlock(const v1::SampleRecord& record);

}  // namespace sinkd
