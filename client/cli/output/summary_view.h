// What the terminal shows of a summary: one function a report, in a file of its own.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/records.pb.h"

namespace sinkd::cli {

struct SummaryView {
  Sections sections;
  int blocks = 0;  // of the model
  bool charts = true;
};

// The counts, then the report of every section asked for.
std::string RenderSummary(const sinks::v1::Summary& summary, const SummaryView& view,
                          const Terminal& terminal);

std::string RenderScores(const sinks::v1::ScoreReport& report, const Terminal& terminal);
std::string RenderLevels(const sinks::v1::LevelReport& report, const SummaryView& view,
                         const Terminal& terminal);
std::string RenderRegression(const sinks::v1::RegressionReport& report, const SummaryView& view,
                             const Terminal& terminal);
std::string RenderCompensation(const sinks::v1::CompensationReport& report, const SummaryView& view,
                               const Terminal& terminal);
std::string RenderLearnedSinks(const sinks::v1::LearnedSinkReport& report, const SummaryView& view,
                               const Terminal& terminal);
std::string RenderGates(const sinks::v1::Summary& summary, const SummaryView& view,
                        const Terminal& terminal);
std::string RenderSinkRate(const sinks::v1::SinkRateReport& report, const SummaryView& view,
                           const Terminal& terminal);

// A heading over a report.
std::string Heading(const std::string& title, const Terminal& terminal);

// "r = 0.9123 (p = 1.2e-08, n = 31)", or why there is none.
std::string CorrelationText(const sinks::v1::Correlation& correlation);

}  // namespace sinkd::cli
