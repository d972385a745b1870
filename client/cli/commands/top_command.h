// `top`: what a server is doing, live on a terminal.
//
// Thread-safety: none; used while the parser is built. What the flags fill is borrowed.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

void AddTopCommand(CLI::App& app, Invocation& invocation);

}  // namespace sinkd::cli
