// `health`: whether a server serves, for people, scripts and the probes of containers.
//
// Thread-safety: none; used while the parser is built. What the flags fill is borrowed.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

void AddHealthCommand(CLI::App& app, Invocation& invocation);

}  // namespace sinkd::cli
