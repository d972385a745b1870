// The flags of the analysis commands: inputs, and every parameter of sinks.v1.AnalysisSpec.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

// Which groups of parameters a command takes.
struct FlagGroups {
  bool scores = false;
  bool rate = false;
  bool levels = false;
  bool regression = false;
  bool compensation = false;
};

// Adds them to `app`; they fill `options`, which is borrowed. A parameter that is not given stays
// absent in the spec: its default is the server's.
void AddAnalysisFlags(CLI::App& app, const FlagGroups& groups, AnalyzeOptions& options);

}  // namespace sinkd::cli
