// What the commands that call a server once or twice share: from connecting to the exit code.
#pragma once

#include <functional>
#include <memory>

#include <absl/status/status.h>
#include <grpcpp/channel.h>

#include "client/cli/exit_code.h"
#include "client/cli/flags/options.h"
#include "client/cli/output/output.h"
#include "client/model_client.h"

namespace sinkd::cli {

// Calls with the channel and options it is given, and writes what came of them. An error without
// details that is INVALID_ARGUMENT is of the input.
using Calls = std::function<absl::Status(const std::shared_ptr<grpc::Channel>&,
                                         const client::CallOptions&, Output&)>;

// Connects, runs `body` so that Ctrl-C cancels its calls and tells `on_interrupt`, if that is
// given, and reports how it ended.
ExitCode RunCalls(const GlobalOptions& global, const Calls& body,
                  std::function<void()> on_interrupt = {});

// The same with a client of ModelService.
using ModelCalls =
    std::function<absl::Status(client::ModelClient&, const client::CallOptions&, Output&)>;
ExitCode RunWithModels(const GlobalOptions& global, const ModelCalls& body);

}  // namespace sinkd::cli
