// `report`: the page as one file, with the data of some runs inside.
//
// Thread-safety: none; used while the parser is built. What the flags fill is borrowed.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

void AddReportCommand(CLI::App& app, Invocation& invocation);

}  // namespace sinkd::cli
