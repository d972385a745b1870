// The commands about models and their flags: models, families, plan, load, unload.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

// `app` keeps references to `invocation`.
void AddModelCommands(CLI::App& app, Invocation& invocation);

}  // namespace sinkd::cli
