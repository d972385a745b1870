// CodecSummary: the summary of a stream, struct to proto. What is undefined has its reason and no
// numbers.
//
// Thread-safety: pure functions.
#pragma once

#include "server/analysis/summary.h"
#include "sinks/v1/records.pb.h"

namespace sinkd {

sinks::v1::Summary EncodeSummary(const SummaryReport& report);

}  // namespace sinkd
