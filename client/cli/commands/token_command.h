// `token new`: makes a token, and the line of a server's --token-file that takes it. Asks no
// server.
//
// Thread-safety: none; used while the parser is built. What the flags fill is borrowed.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

void AddTokenCommand(CLI::App& app, Invocation& invocation);

}  // namespace sinkd::cli
