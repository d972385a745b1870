// What the commands that call a server share: from connecting to the exit code.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "client/cli/exit_code.h"
#include "client/cli/flags/options.h"
#include "client/cli/output/output.h"
#include "client/model_client.h"

namespace sinkd::cli {

// A channel to the server of the options, with their token and certificates, under sinkctl's own
// user agent; its calls belong to the trace that TRACEPARENT in the environment names.
// INVALID_ARGUMENT for files that cannot be used.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const GlobalOptions& options);

// Deadline from --timeout, counted from now, a request id of its own, and `cancellation`.
client::CallOptions MakeCallOptions(const GlobalOptions& options,
                                    client::Cancellation& cancellation);

// "sinkctl: text" on standard error.
void Say(const std::string& text);

// Calls with the channel and options it is given, and writes what came of them. An error without
// details that is INVALID_ARGUMENT is of the input.
using Calls = std::function<absl::Status(const std::shared_ptr<grpc::Channel>&,
                                         const client::CallOptions&, Output&)>;

// Connects, runs `body`, prints its error if it fails, and returns the exit code. Ctrl-C calls
// `on_interrupt`, if given, and cancels the calls.
ExitCode RunCalls(const GlobalOptions& global, const Calls& body,
                  std::function<void()> on_interrupt = {});

// The same with a client of ModelService.
using ModelCalls =
    std::function<absl::Status(client::ModelClient&, const client::CallOptions&, Output&)>;
ExitCode RunWithModels(const GlobalOptions& global, const ModelCalls& body);

}  // namespace sinkd::cli
