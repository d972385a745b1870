// The parameters of analyses: sinks.v1.AnalysisSpec. Their defaults and limits are options of the
// fields in the protocol (options.proto). Functions that take a spec need a complete one, with all
// defaults filled in.
//
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include "server/engine/trace.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

namespace v1 = ::sinks::v1;

// Makes a spec complete: fills in the detection and the parameters that it leaves out. Presets
// become the values that they stand for.
void FillAnalysisDefaults(v1::AnalysisSpec& spec);

// INVALID_ARGUMENT naming the field ("spec.detection.cosine_threshold"), its value and its limit.
absl::Status CheckAnalyses(const v1::AnalysisSpec& spec);

// The analyses of a spec, without its model, run and stream.
v1::AnalysisSpec AnalysesOf(const v1::AnalysisSpec& spec);

// Field by field.
bool Equal(const google::protobuf::Message& a, const google::protobuf::Message& b);

// Where the engine takes the last layer's state.
LastState LastStateOf(const v1::DetectionParameters& detection);

// What the engine must trace so that every analysis of `spec` can be made from one pass.
TraceRequest RequiredTrace(const v1::AnalysisSpec& spec);

}  // namespace sinkd
