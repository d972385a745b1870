#include "client/cli/commands/model_session.h"

#include <unistd.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/terminal/interrupt.h"
#include "client/cli/terminal/terminal.h"
#include "client/error_report.h"

namespace sinkd::cli {

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
