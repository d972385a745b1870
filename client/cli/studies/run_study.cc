#include <unistd.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_session.h"
#include "client/cli/terminal/interrupt.h"
#include "client/model_client.h"

namespace sinkd::cli {

ExitCode RunStudy(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const StudyOptions& options = invocation.study;
  SampleReader reader(options.input);
  if (const absl::Status status = reader.Check(); !status.ok()) {
    Say(std::string(status.message()));
    return kExitUsage;
  }
  const auto channel = Connect(global);
  if (!channel.ok()) {
    Say(std::string(channel.status().message()));
    return kExitUsage;
  }
  client::Cancellation cancellation;
  const InterruptWatcher interrupt([&] {
    reader.Stop();
    cancellation.Cancel();
  });
  const client::CallOptions call = MakeCallOptions(global, cancellation);
  const Terminal terminal = DetectTerminal(global);
  Output output(STDOUT_FILENO, LineWidth(global, terminal));
  const auto writer = MakeStudyWriter(global, options, terminal, output);
  ProgressBar progress(terminal.progress, terminal);
  StudySession session(reader, *writer, output, progress, global,
                       invocation.analyze.spec.fail_fast());
  sinks::v1::RunStudyRequest request = options.request;
  request.set_model(client::ModelName(options.model));
  ParametersOf(*options.command, request);
  absl::Status status;
  if (session.Prepare(request)) {
    status = client::MechanismClient(*channel).RunStudy(request, session, call);
  }
  return session.Finish(status, interrupt.interrupted());
}

}  // namespace sinkd::cli
