// Compensation curves of one sample: per block the attention of the primary sink, of the secondary
// sinks together, and of all other positions (definitions: Compensation).
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// `record` must hold the sample's primary sink and sinks. A position without alpha (the last one
// under exclude_self) contributes nothing; all curves have L values.
CompensationCurves MakeCompensationCurves(const AnalysisSpec& spec, const Trace& trace,
                                          const SampleRecord& record);

// The first block that pays the primary sink the least attention, of those that read a state of its
// window [start, end): blocks start + 1 to end. Nothing where no block does, or without curves.
std::optional<int32_t> WeakestBlock(const SampleRecord& record);

}  // namespace sinkd
