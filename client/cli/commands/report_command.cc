#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/output.h"
#include "client/cli/output/report_data.h"
#include "client/error_report.h"
#include "server/http/page/page.h"

namespace sinkd::cli {
namespace {

// The page with `data` in its slot.
absl::StatusOr<std::string> FillPage(std::string_view page, std::string_view data) {
  const size_t slot = page.find(kPageDataSlot);
  if (slot == std::string_view::npos) return absl::InternalError("the page has no place for data");
  const size_t inside = slot + kPageDataSlot.rfind('<');
  std::string html;
  html.reserve(page.size() + data.size());
  return html.append(page.substr(0, inside)).append(data).append(page.substr(inside));
}

absl::Status FileError(const std::string& path) {
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" cannot be written: {}", client::MakePrintable(path), strerror(errno)));
}

// A file that is there is replaced whole or not at all.
absl::Status WriteFile(const std::string& path, std::string_view text) {
  const std::string unfinished = path + ".part";
  std::FILE* const file = std::fopen(unfinished.c_str(), "we");
  if (file == nullptr) return FileError(path);
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = std::fclose(file) == 0 && written;
  if (written && std::rename(unfinished.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = FileError(path);
  std::remove(unfinished.c_str());
  return status;
}

absl::Status WriteOutput(std::string_view text) {
  Output output(STDOUT_FILENO);
  output.Write(text);
  return output.Flush();
}

ExitCode WriteReport(const GlobalOptions& global, const ReportOptions& options,
                     const std::string& data) {
  const absl::StatusOr<std::string> html = FillPage(BuiltPage().html, data);
  absl::Status status = html.status();
  if (status.ok()) {
    status = options.file == "-" ? WriteOutput(*html) : WriteFile(options.file, *html);
  }
  if (absl::IsAborted(status)) return kExitOk;  // the reader of a pipe has gone
  if (!status.ok()) {
    Say(std::string(status.message()));
    return kExitUsage;
  }
  if (!global.quiet && options.file != "-") {
    Say(fmt::format("{} written, {}", client::MakePrintable(options.file),
                    Bytes(static_cast<int64_t>(html->size()))));
  }
  return kExitOk;
}

ExitCode RunReport(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ReportOptions& options = invocation.report;
  if (BuiltPage().html.empty()) {
    Say("this sinkctl was built without the page that reports are made of: install Node.js "
        "(deploy/setup.sh does) and build again");
    return kExitUsage;
  }
  std::string data;
  const ExitCode code = RunCalls(
      global,
      [&](const std::shared_ptr<grpc::Channel>& channel, const client::CallOptions& call,
          Output&) -> absl::Status {
        absl::StatusOr<std::string> gathered = GatherReport(
            client::RunClient(channel), client::ModelClient(channel),
            {.runs = options.runs, .samples = options.samples, .server = global.server}, call);
        if (gathered.ok()) data = *std::move(gathered);
        return gathered.status();
      });
  return code == kExitOk ? WriteReport(global, options, data) : code;
}

}  // namespace

void AddReportCommand(CLI::App& app, Invocation& invocation) {
  ReportOptions& options = invocation.report;
  CLI::App* sub =
      AddCommand(app, invocation, "report", "Runs as one HTML file, to open from disk", RunReport);
  sub->add_option("RUN", options.runs, "Stored runs, by name")->required()->type_name("");
  sub->add_option("--file,-o,--output", options.file, "File to write; - is standard output")
      ->required()
      ->type_name("FILE");
  sub->add_option("--samples", options.samples,
                  "Samples of each run to take, from its first, 0 to 1000; default 20")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  sub->footer(
      "Example:\n  sinkctl report nightly release --file report.html\n\n"
      "The file needs no network and no server: data, charts and all are inside.");
}

}  // namespace sinkd::cli
