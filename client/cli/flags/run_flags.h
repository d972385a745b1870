// The commands about stored runs and their flags: runs list, show, complete, delete, export,
// import, summarize.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

// `app` keeps references to `invocation`.
void AddRunCommands(CLI::App& app, Invocation& invocation);

// What the flags must say together; the problem, or empty.
std::string CheckRunOptions(const RunOptions& options);

}  // namespace sinkd::cli
