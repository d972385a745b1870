// The answers a FakeServer gives: made up, the same every time.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "sinks/v1/analysis.pb.h"
#include "sinks/v1/models.pb.h"

namespace sinkd::testing {

// Blocks of every model of the fake server.
inline constexpr int kFakeBlocks = 12;

// A whole record with a primary sink at 0 and one secondary sink; its texts hold a newline, a wide
// character and an escape sequence.
sinks::v1::SampleRecord MakeRecord(int64_t index, const sinks::v1::Sample& sample);
sinks::v1::Summary MakeSummary(const sinks::v1::AnalysisSpec& spec, int64_t samples,
                               int64_t positions);
sinks::v1::AnalyzeResponse MakeStarted(const sinks::v1::AnalysisSpec& spec);

// A plan on one device with 3 blocks of 2 tensors, an embedding and a head, four tensors a page:
// 2 GiB of weights, or 256 MiB streamed, beside 1 GiB or 344 MiB of activations.
sinks::v1::PlanModelResponse MakePlan(const sinks::v1::PlanModelRequest& request,
                                      int64_t free_bytes);
// "llama", fully known, and "two", of which little is.
sinks::v1::ListFamiliesResponse MakeFamilies();

}  // namespace sinkd::testing
