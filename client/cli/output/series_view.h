// What the terminal shows of summaries in numeric order: a row a value of the label, then the
// change point of each series.
//
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>

#include "client/cli/terminal/terminal.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {

// `label` is its key; the last of `summaries`, of which there is at least one, has the series.
std::string RenderSeries(const std::string& label,
                         std::span<const sinks::v1::SummarizeRunsResponse> summaries,
                         const Terminal& terminal);

}  // namespace sinkd::cli
