// Compensation curves of one sample: per block the attention of the primary sink, of the secondary
// sinks together, and of all other positions (definitions: Compensation).
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// `record` must hold the sample's primary sink and sinks. A position without alpha (the last one
// under exclude_self) contributes nothing; curves of attention
// have A values, that of norms L.
v1::CompensationCurves MakeCompensationCurves(const v1::AnalysisSpec& spec, const Trace& trace,
                                              const v1::SampleRecord& record);

// The curves of a record, if it has some (record_part.h).
absl::Status CheckCompensationCurves(const v1::SampleRecord& record);

}  // namespace sinkd
