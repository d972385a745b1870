#include <unistd.h>

#include "client/cli/analysis_session.h"
#include "client/cli/call_setup.h"
#include "client/cli/commands.h"
#include "client/cli/interrupt.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// The spec with the messages of the sections present, and records only where they are shown.
v1::AnalysisSpec MakeSpec(const Invocation& invocation) {
  const AnalyzeOptions& options = invocation.analyze;
  const Sections& sections = options.sections;
  v1::AnalysisSpec spec = options.spec;
  spec.set_model(client::ModelName(options.model));
  spec.mutable_detection();
  // The regression's y is a score.
  if (sections.scores || sections.regress) spec.mutable_scores();
  if (sections.levels) spec.mutable_levels();
  if (sections.regress) spec.mutable_regression();
  if (sections.compensation) spec.mutable_compensation();
  if (sections.rate) spec.mutable_sink_rate();
  const bool chart = invocation.global.output == OutputFormat::kTable && !options.no_chart;
  if (sections.regress && chart) spec.mutable_regression()->set_points(true);
  const bool records = sections.per_sample() || options.records || spec.scores().all_positions();
  if (options.summary_only || !records) spec.set_summary_only(true);
  return spec;
}

}  // namespace

ExitCode RunAnalyze(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const AnalyzeOptions& options = invocation.analyze;
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
  Output output(STDOUT_FILENO);
  const auto writer = MakeResultWriter(global, options, terminal, output);
  ProgressBar progress(terminal.progress, terminal);
  AnalysisSession session(reader, *writer, output, progress, global.server,
                          options.spec.fail_fast(), global.quiet);
  absl::Status status;
  if (session.Prepare()) {
    status = client::AnalysisClient(*channel).Analyze(MakeSpec(invocation), session, session, call);
  }
  return session.Finish(status, interrupt.interrupted());
}

}  // namespace sinkd::cli
