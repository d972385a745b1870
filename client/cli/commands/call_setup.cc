#include "client/cli/commands/call_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "client/channel.h"
#include "client/cli/flags/credential_flags.h"
#include "client/cli/terminal/interrupt.h"
#include "client/cli/terminal/terminal.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

constexpr size_t kMaxTraceparent = 512;

std::string MakeRequestId() {
  std::random_device device;
  return fmt::format("sinkctl-{:08x}{:08x}", device(), device());
}

// The server says what is a trace and what is not; but gRPC fails calls whose metadata holds bytes
// that are not for headers.
std::string InheritedTrace() {
  const char* value = std::getenv("TRACEPARENT");
  const std::string trace = value != nullptr ? value : "";
  const bool fits =
      trace.size() <= kMaxTraceparent &&
      std::all_of(trace.begin(), trace.end(), [](char c) { return c > ' ' && c <= '~'; });
  return fits ? trace : "";
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const GlobalOptions& options) {
  // Before gRPC starts. Its log says in several lines what our message says in one.
  setenv("GRPC_VERBOSITY", options.verbose ? "ERROR" : "NONE", /*overwrite=*/0);
  client::ChannelOptions channel{.user_agent = "sinkctl/" SINKCTL_VERSION};
  if (absl::Status status = ReadCredentials(options, channel); !status.ok()) return status;
  channel.traceparent = InheritedTrace();
  return client::MakeChannel(options.server, channel);
}

client::CallOptions MakeCallOptions(const GlobalOptions& options,
                                    client::Cancellation& cancellation) {
  client::CallOptions call;
  if (options.timeout) call.deadline = std::chrono::system_clock::now() + *options.timeout;
  call.request_id = MakeRequestId();
  call.cancellation = &cancellation;
  return call;
}

void Say(const std::string& text) {
  fmt::print(stderr, "sinkctl: {}\n", text);
}

ExitCode RunCalls(const GlobalOptions& global, const Calls& body,
                  std::function<void()> on_interrupt) {
  const auto channel = Connect(global);
  if (!channel.ok()) {
    Say(std::string(channel.status().message()));
    return kExitUsage;
  }
  client::Cancellation cancellation;
  const InterruptWatcher interrupt([&] {
    if (on_interrupt) on_interrupt();
    cancellation.Cancel();
  });
  Output output(STDOUT_FILENO, LineWidth(global, DetectTerminal(global)));
  const absl::Status status = body(*channel, MakeCallOptions(global, cancellation), output);
  const absl::Status flushed = output.Flush();
  if (interrupt.interrupted()) {
    if (!status.ok()) Say("interrupted");
    return kExitInterrupted;
  }
  if (output.reader_gone()) return kExitOk;
  const bool of_input =
      absl::IsInvalidArgument(status) && !client::ReadErrorReport(status).has_details();
  if (of_input) {
    Say(std::string(status.message()));
    return kExitUsage;
  }
  if (!status.ok()) {
    Say(DescribeFailure(status, global));
    return ExitCodeFor(status);
  }
  if (!flushed.ok()) {
    Say(std::string(flushed.message()));
    return kExitUsage;
  }
  return kExitOk;
}

ExitCode RunWithModels(const GlobalOptions& global, const ModelCalls& body) {
  return RunCalls(global, [&body](const std::shared_ptr<grpc::Channel>& channel,
                                  const client::CallOptions& call, Output& output) {
    client::ModelClient models(channel);
    return body(models, call, output);
  });
}

}  // namespace sinkd::cli
