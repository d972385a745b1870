// The answers a FakeServer gives: made up, the same every time.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::testing {

// Blocks of every model of the fake server.
inline constexpr int kFakeBlocks = 12;

// A whole record with a primary sink at 0 and one secondary sink; its texts hold a newline, a wide
// character and an escape sequence.
sinks::v1::SampleRecord MakeRecord(int64_t index, const sinks::v1::Sample& sample);
sinks::v1::Summary MakeSummary(const sinks::v1::AnalysisSpec& spec, int64_t samples,
                               int64_t positions);
sinks::v1::AnalyzeResponse MakeStarted(const sinks::v1::AnalysisSpec& spec);

}  // namespace sinkd::testing
