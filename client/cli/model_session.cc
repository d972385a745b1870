#include "client/cli/model_session.h"

#include <unistd.h>

#include "client/cli/call_setup.h"
#include "client/cli/interrupt.h"

namespace sinkd::cli {

ExitCode RunWithModels(const GlobalOptions& global, const ModelCalls& body) {
  const auto channel = Connect(global);
  if (!channel.ok()) {
    Say(std::string(channel.status().message()));
    return kExitUsage;
  }
  client::Cancellation cancellation;
  const InterruptWatcher interrupt([&] { cancellation.Cancel(); });
  client::ModelClient models(*channel);
  Output output(STDOUT_FILENO);
  const absl::Status status = body(models, MakeCallOptions(global, cancellation), output);
  const absl::Status flushed = output.Flush();
  if (interrupt.interrupted()) {
    Say("interrupted");
    return kExitInterrupted;
  }
  if (output.reader_gone()) return kExitOk;
  if (!status.ok()) {
    Say(DescribeFailure(status, global.server));
    return ExitCodeFor(status);
  }
  if (!flushed.ok()) {
    Say(std::string(flushed.message()));
    return kExitUsage;
  }
  return kExitOk;
}

}  // namespace sinkd::cli
