#include <unistd.h>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/commands/backup_file.h"
#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/run_files.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/run_view.h"
#include "client/cli/terminal/interrupt.h"
#include "client/error_report.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// What an action needs to call the server and to tell of it.
struct Session {
  const client::RunClient& client;
  const client::CallOptions& call;
  const GlobalOptions& global;
  const RunOptions& options;
  const Terminal terminal;
  Output& output;
  const StopSignal& stop;
};

// Says what a filter that no run meets may have meant.
void SuggestFilter(const Session& session) {
  const absl::StatusOr<std::string> meant =
      session.client.DidYouMean(session.options.filter, session.call);
  if (!meant.ok() || meant->empty() || session.global.quiet) return;
  Say(fmt::format("no run meets the filter; did you mean {}?", client::MakePrintable(*meant)));
}

absl::Status List(const Session& session) {
  ListWriter writer(RunListView(), session.options.names, session.global, session.terminal,
                    session.output);
  bool any = false;
  const absl::Status status =
      session.client.List(session.options.filter, session.call, [&](const v1::Run& run) {
        any = true;
        writer.Add(run);
      });
  if (!status.ok()) return status;
  writer.End();
  if (!any) SuggestFilter(session);
  return status;
}

absl::Status Show(const Session& session) {
  const absl::StatusOr<v1::Run> run =
      session.client.Get(session.options.runs.front(), session.call);
  if (run.ok()) {
    session.output.Write(RenderOne(RunListView(), *run, session.global, session.terminal));
  }
  return run.status();
}

absl::Status Complete(const Session& session) {
  ListWriter writer(RunListView(), false, session.global, session.terminal, session.output);
  for (const std::string& name : session.options.runs) {
    const absl::StatusOr<v1::Run> run =
        session.client.SetState(name, v1::RUN_STATE_COMPLETE, session.call);
    if (!run.ok()) return run.status();
    writer.Add(*run);
  }
  writer.End();
  return absl::OkStatus();
}

absl::Status Delete(const Session& session) {
  for (const std::string& name : session.options.runs) {
    if (absl::Status status = session.client.Delete(name, session.call); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Export(const Session& session) {
  const std::string& name = session.options.runs.front();
  const absl::StatusOr<v1::Run> run = session.client.Get(name, session.call);
  if (!run.ok()) return run.status();
  session.output.KeepLines();
  RunFileWriter writer(session.global, session.output);
  writer.Begin(*run);
  v1::StreamRecordsRequest request;
  request.set_name(client::RunName(name));
  request.set_include_token_ids(session.options.token_ids);
  const absl::Status status = session.client.Records(
      request, session.call,
      [&writer](const v1::StoredRecord& record) { return writer.Add(record); });
  if (status.ok()) writer.End();
  return status;
}

absl::Status Import(const Session& session) {
  v1::ImportHeader header = session.options.import;
  header.set_run_id(RunId(session.options.runs.front()));
  const auto reader = RunFileReader::Open(session.options.file, std::move(header), &session.stop);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<v1::ImportRecordsResponse> response =
      session.client.Import([&reader] { return (*reader)->Next(); }, session.call);
  if (!response.ok()) return response.status();
  session.output.Write(RenderOne(RunListView(), response->run(), session.global, session.terminal));
  if (!session.global.quiet) {
    const std::string replaced =
        response->replaced() > 0 ? fmt::format(", {} replaced", Grouped(response->replaced())) : "";
    Say(fmt::format("{} records stored{}, {} were there before", Grouped(response->imported()),
                    replaced, Grouped(response->already_there())));
  }
  return absl::OkStatus();
}

v1::SummarizeRunsRequest MakeRequest(const RunOptions& options) {
  v1::SummarizeRunsRequest request = options.summarize;
  for (const std::string& name : options.runs) request.add_names(client::RunName(name));
  *request.mutable_filter() = options.filter;
  for (const AnalysisCommand* analysis : options.sections) {
    ParametersOf(*analysis, *request.mutable_spec());
  }
  return request;
}

absl::Status Summarize(const Session& session) {
  RunSummaryWriter writer(session.options, session.global, session.terminal, session.output);
  bool any = false;
  const absl::Status status = session.client.Summarize(
      MakeRequest(session.options), session.call, [&](const v1::SummarizeRunsResponse& summary) {
        any = true;
        writer.Add(summary);
        return session.output.Flush();
      });
  if (!status.ok()) return status;
  writer.End();
  if (!any) SuggestFilter(session);
  return status;
}

absl::Status Backup(const Session& session) {
  absl::StatusOr<BackupFile> file = BackupFile::Open(session.options.file);
  if (!file.ok()) return file.status();
  absl::Status status = session.client.BackUp(
      session.call, [&file](const v1::BackUpStoreResponse& piece) { return file->Add(piece); });
  if (status.ok()) status = file->Finish();
  if (status.ok() && !session.global.quiet) {
    Say(fmt::format("{} bytes written to {}", Grouped(file->bytes()), session.options.file));
  }
  return status;
}

absl::Status Act(const Session& session) {
  switch (session.options.action) {
    case RunAction::kNone:
      break;
    case RunAction::kList:
      return List(session);
    case RunAction::kShow:
      return Show(session);
    case RunAction::kComplete:
      return Complete(session);
    case RunAction::kDelete:
      return Delete(session);
    case RunAction::kExport:
      return Export(session);
    case RunAction::kImport:
      return Import(session);
    case RunAction::kSummarize:
      return Summarize(session);
    case RunAction::kBackup:
      return Backup(session);
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode RunRuns(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  StopSignal stop;
  return RunCalls(
      global,
      [&](const std::shared_ptr<grpc::Channel>& channel, const client::CallOptions& call,
          Output& output) {
        const client::RunClient client(channel);
        return Act({client, call, global, invocation.runs, DetectTerminal(global), output, stop});
      },
      [&stop] { stop.Stop(); });
}

}  // namespace sinkd::cli
