#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/commands/analysis_session.h"
#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/number_format.h"
#include "client/cli/terminal/interrupt.h"
#include "client/error_report.h"
#include "client/run_client.h"
#include "client/server_list.h"

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
  // Other shards may write to the run yet.
  if (!options.shard.empty() && !spec.run_id().empty()) {
    spec.set_keep_run_open(true);
    if (!options.summary_only) spec.set_no_summary(true);
  }
  const bool charts = invocation.global.output == OutputFormat::kTable && !options.no_chart;
  for (const AnalysisCommand* analysis : sections) {
    ParametersOf(*analysis, spec);
    if (analysis->needs_scores) spec.mutable_scores();
    if (charts && analysis->ask_for_charts != nullptr) analysis->ask_for_charts(spec);
  }
  const bool records = ShowsRecords(sections) || options.records || spec.scores().all_positions();
  if (options.summary_only || options.no_records || !records) spec.set_summary_only(true);
  return spec;
}

// Asks what the run holds, to be left out with --resume.
absl::Status UseRun(const AnalyzeOptions& options, const std::shared_ptr<grpc::Channel>& channel,
                    const client::CallOptions& call, AnalysisSession& session) {
  const std::string& run = options.spec.run_id();
  if (run.empty()) return absl::OkStatus();
  constexpr size_t kDigestBytes = 8;  // as many as a short string holds in place
  std::map<std::string, std::string> held;
  if (options.resume) {
    const client::RetryPolicy retry{.at_least =
                                        options.retry_for.value_or(std::chrono::milliseconds(0))};
    const absl::Status status =
        client::RunClient(channel, retry)
            .SampleKeys(run, call, [&held](const std::string& key, const std::string& digest) {
              held.emplace(key, digest.substr(0, kDigestBytes));
            });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  session.UseRun(run, std::move(held), options.spec.replace());
  return absl::OkStatus();
}

bool NamesSeveral(const std::string& server) {
  return client::SplitServers(server).size() > 1 || server.starts_with("dns:");
}

// Sleeps in slices, so that Ctrl-C need not wait.
void Pause(std::chrono::milliseconds time, const client::Cancellation& cancellation) {
  constexpr std::chrono::milliseconds kSlice{50};
  for (; time.count() > 0 && !cancellation.cancelled(); time -= kSlice) {
    std::this_thread::sleep_for(std::min(time, kSlice));
  }
}

constexpr int kMostDoublings = 7;  // of the pauses, to 32 s

// One stream or, where the connection breaks, as many as it takes.
absl::Status Analyze(const client::AnalysisClient& client, const v1::AnalysisSpec& spec,
                     const client::CallOptions& call, AnalysisSession& session) {
  while (true) {
    const absl::Status status = client.Analyze(spec, session, session, call);
    if (call.cancellation->cancelled() || !session.MayTakeUp(status)) return status;
    const client::ErrorReport report = client::ReadErrorReport(status);
    const std::chrono::milliseconds pause =
        std::max(std::chrono::milliseconds(250 << std::min(session.broken_off(), kMostDoublings)),
                 report.retry_after.value_or(std::chrono::milliseconds(0)));
    const bool in_time =
        !call.deadline || std::chrono::system_clock::now() + pause < *call.deadline;
    if (!in_time) return status;
    Say(fmt::format("{}; {} in {}s", report.message,
                    session.has_run() ? "resuming the run" : "starting over",
                    Fixed(static_cast<double>(pause.count()) / 1000, 2)));
    Pause(pause, *call.cancellation);
    session.TakeUp();
  }
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
  std::string peer;
  client::CallOptions call = MakeCallOptions(global, cancellation);
  call.peer = &peer;
  const Terminal terminal = DetectTerminal(global);
  Output output(STDOUT_FILENO, LineWidth(global, terminal));
  const auto writer = MakeResultWriter(global, options, terminal, output);
  ProgressBar progress(terminal.progress, terminal);
  AnalysisSession session(reader, *writer, output, progress, global, options);
  if (const auto shard = ParseShard(options.shard)) session.UseShard(*shard);
  absl::Status status = UseRun(options, *channel, call, session);
  if (status.ok() && session.Prepare()) {
    status = Analyze(client::AnalysisClient(*channel), MakeSpec(invocation), call, session);
  }
  const ExitCode code = session.Finish(status, interrupt.interrupted());
  if (!status.ok() && !peer.empty() && NamesSeveral(global.server)) {
    Say("the server that answered is " + peer);
  }
  return code;
}

}  // namespace sinkd::cli
