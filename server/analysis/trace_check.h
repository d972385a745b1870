// Checks a trace before anything is computed from it.
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/parameters.h"
#include "server/engine/trace.h"

namespace sinkd {

// INVALID_ARGUMENT (reason TOO_FEW_LAYERS) for a model of one layer, or (EMPTY_SAMPLE) a sample
// without tokens; INTERNAL when the trace was not made with RequiredTrace(spec) or its arrays do
// not have the sizes it names; FAILED_PRECONDITION (NON_FINITE_ACTIVATION) naming the first layer
// and position with an infinite or NaN value. `bfloat16`: the pass ran in it, which float32 may
// cure.
absl::Status CheckTrace(const v1::AnalysisSpec& spec, const Trace& trace, bool bfloat16);

}  // namespace sinkd
