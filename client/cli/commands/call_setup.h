// What every command that talks to a server starts with.
#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

#include "client/call.h"
#include "client/cli/flags/options.h"

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

}  // namespace sinkd::cli
