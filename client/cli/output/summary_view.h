// What the terminal shows of a summary: the counts and the report of each analysis.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/records.pb.h"

namespace sinkd::cli {

// The counts, then the report of every section asked for.
std::string RenderSummary(const sinks::v1::Summary& summary, const SummaryView& view,
                          const Terminal& terminal);

// A heading over a report.
std::string Heading(const std::string& title, const Terminal& terminal);

// "r = 0.9123 (p = 1.2e-08, n = 31)", or why there is none.
std::string CorrelationText(const sinks::v1::Correlation& correlation);

}  // namespace sinkd::cli
