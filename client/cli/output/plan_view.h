// A plan in every output format.
//
// JSON: the PlanModelResponse; JSONL: {"type": "plan", "plan": {...}}, then a line a tensor,
// {"type": "tensor", "tensor": {...}}. CSV: a row a device, or a row a tensor where there are any.
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/models.pb.h"

namespace sinkd::cli {

// For every format but the table.
std::string WritePlan(const sinks::v1::PlanModelResponse& plan, const GlobalOptions& global);

// For people. `streamed`: the same with weights streamed, where that may be the way out; null where
// not known. `each`: every tensor, not groups of them.
std::string RenderPlan(const sinks::v1::PlanModelResponse& plan,
                       const sinks::v1::ModelPlan* streamed, bool each, const Terminal& terminal);

}  // namespace sinkd::cli
