// StreamSpec: the first message of an Analyze stream, checked and completed.
//
// A complete spec has every analysis that it asks for, and the detection, with all parameters; a
// template date; a lane; fail_fast and summary_only.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field ("spec.detection.kind_rule"), its value and its limit.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/scheduler/fair_order.h"

namespace sinkd {

absl::StatusOr<v1::AnalysisSpec> CompleteSpec(v1::AnalysisSpec spec,
                                              const std::string& default_template_date);

// The analyses alone, whatever model they are for.
absl::StatusOr<v1::AnalysisSpec> CompleteAnalyses(const v1::AnalysisSpec& spec);

// Of a complete spec: its model without "models/", a part of the spec; and its lane.
std::string_view ModelIdOf(const v1::AnalysisSpec& spec);
Lane LaneOf(const v1::AnalysisSpec& spec);

}  // namespace sinkd
