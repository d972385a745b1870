// What the commands that call ModelService share: from connecting to the exit code.
#pragma once

#include <functional>

#include <absl/status/status.h>

#include "client/cli/exit_code.h"
#include "client/cli/options.h"
#include "client/cli/output.h"
#include "client/model_client.h"

namespace sinkd::cli {

// Calls with the client and options it is given, and writes what came of them.
using ModelCalls =
    std::function<absl::Status(client::ModelClient&, const client::CallOptions&, Output&)>;

// Connects, runs `body` so that Ctrl-C cancels its calls, and reports how it ended.
ExitCode RunWithModels(const GlobalOptions& global, const ModelCalls& body);

}  // namespace sinkd::cli
