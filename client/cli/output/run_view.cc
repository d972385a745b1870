#include "client/cli/output/run_view.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/csv_row.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/model_view.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/summary_view.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kRunHeader =
    "name,model,state,create_time,update_time,samples,failed_samples,tokens,primary_sinks,"
    "secondary_sinks,noise_sinks,size_bytes,labels";
constexpr std::string_view kSummaryHeader =
    "group,runs,samples,tokens,undecided_samples,primary,secondary,noise,secondary_per_1000_tokens,"
    "samples_with_secondary,distinct_levels,entropy\r\n";

std::string LabelText(const v1::Run& run) {
  std::string text;
  // The map's own order is none.
  const std::map<std::string, std::string> sorted(run.labels().begin(), run.labels().end());
  for (const auto& [name, value] : sorted) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", client::MakePrintable(name),
                        client::MakePrintable(value));
  }
  return text;
}

Style StateStyle(v1::RunState state) {
  return state == v1::RUN_STATE_OPEN ? Style::kYellow : Style::kGreen;
}

std::string CsvLine(const v1::Run& run) {
  CsvRow row;
  row.Add(run.name()).Add(run.model()).Add(WordOf(run.state()));
  row.Add(TimeText(run.create_time())).Add(TimeText(run.update_time()));
  row.Add(run.samples()).Add(run.failed_samples()).Add(run.tokens());
  row.Add(run.primary_sinks()).Add(run.secondary_sinks()).Add(run.noise_sinks());
  row.Add(run.size_bytes()).Add(LabelText(run));
  return row.Take();
}

std::vector<Cell> Row(const v1::Run& run) {
  return {Cell(RunId(run.name()), Style::kBold),
          client::MakePrintable(ModelId(run.model())),
          Cell(WordOf(run.state()), StateStyle(run.state())),
          TimeText(run.create_time()),
          Grouped(run.samples()),
          Grouped(run.failed_samples()),
          Grouped(run.tokens()),
          Grouped(run.secondary_sinks()),
          Bytes(run.size_bytes()),
          LabelText(run)};
}

std::string Card(const v1::Run& run, const Terminal& terminal) {
  std::string text =
      Paint(terminal.color_out, Style::kBold, client::MakePrintable(RunId(run.name()))) + "  " +
      Paint(terminal.color_out, StateStyle(run.state()), WordOf(run.state())) + '\n';
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<10}{}\n", label, value);
  };
  line("model", client::MakePrintable(ModelId(run.model())));
  if (run.labels_size() > 0) line("labels", LabelText(run));
  line("made", TimeText(run.create_time()) + " UTC");
  line("changed", TimeText(run.update_time()) + " UTC");
  line("samples",
       fmt::format("{}, {} failed", Grouped(run.samples()), Grouped(run.failed_samples())));
  line("tokens", Grouped(run.tokens()));
  line("sinks", fmt::format("{} secondary, {} primary, {} noise", Grouped(run.secondary_sinks()),
                            Grouped(run.primary_sinks()), Grouped(run.noise_sinks())));
  line("size", Bytes(run.size_bytes()));
  for (const std::string& arithmetic : run.arithmetics()) {
    line("computed", client::MakePrintable(arithmetic));
  }
  line("spec", ToJson(run.spec()));
  return text;
}

std::string SummaryRow(const v1::SummarizeRunsResponse& response) {
  const v1::Summary& summary = response.summary();
  const v1::LevelReport& levels = summary.levels();
  const bool any = summary.has_levels();
  CsvRow row;
  row.Add(response.group()).Add(response.run_count()).Add(summary.samples());
  row.Add(summary.positions()).Add(summary.undecided_samples());
  row.AddIf(any, levels.primary()).AddIf(any, levels.secondary()).AddIf(any, levels.noise());
  row.AddIf(any, levels.secondary_per_1000_tokens());
  row.AddIf(any, levels.samples_with_secondary()).AddIf(any, levels.distinct_levels());
  row.AddIf(levels.has_entropy(), levels.entropy());
  return row.Take();
}

}  // namespace

std::string RunId(const std::string& name) {
  constexpr std::string_view kPrefix = "runs/";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  const auto seconds = static_cast<std::time_t>(time.seconds());
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return kAbsent;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", utc);
}

const ListView<v1::Run>& RunListView() {
  static const auto* const view =
      new ListView<v1::Run>{.type = "run",
                            .plural = "runs",
                            .none = "no such runs\n",
                            .csv_header = kRunHeader,
                            .csv = CsvLine,
                            .id = [](const v1::Run& run) { return RunId(run.name()); },
                            .columns = {{"run", Align::kLeft},
                                        {"model", Align::kLeft},
                                        {"state", Align::kLeft},
                                        {"made (UTC)", Align::kLeft},
                                        {"samples"},
                                        {"failed"},
                                        {"tokens"},
                                        {"secondary"},
                                        {"size"},
                                        {"labels", Align::kLeft}},
                            .row = Row,
                            .card = Card};
  return *view;
}

RunSummaryWriter::RunSummaryWriter(const RunOptions& options, OutputFormat format,
                                   const Terminal& terminal, Output& output)
    : options_(options), format_(format), terminal_(terminal), output_(output) {}

void RunSummaryWriter::Add(const v1::SummarizeRunsResponse& summary) {
  switch (format_) {
    case OutputFormat::kJson:
      output_.Write((any_ ? ",\n  " : "{\"summaries\":[\n  ") + ToJson(summary));
      break;
    case OutputFormat::kJsonl:
      output_.Write(TypedJson("runSummary", ToJson(summary)) + '\n');
      break;
    case OutputFormat::kCsv:
      if (!any_) output_.Write(kSummaryHeader);
      output_.Write(SummaryRow(summary));
      break;
    case OutputFormat::kTable: {
      const bool grouped = options_.summarize.has_grouping();
      const std::string group =
          summary.group().empty() ? "without a group" : client::MakePrintable(summary.group());
      const std::string title =
          fmt::format("{}{} run{}", grouped ? group + ": " : "", Grouped(summary.run_count()),
                      summary.run_count() == 1 ? "" : "s");
      const Sections all(AnalysisCommands().begin(), AnalysisCommands().end());
      output_.Write((any_ ? "\n" : "") + Paint(terminal_.color_out, Style::kBold, title) + '\n' +
                    RenderSummary(summary.summary(), {all, 0, !options_.no_chart}, terminal_));
      break;
    }
  }
  any_ = true;
}

void RunSummaryWriter::End() {
  if (format_ == OutputFormat::kJson) output_.Write(any_ ? "\n]}\n" : "{\"summaries\":[]}\n");
  if (format_ == OutputFormat::kCsv && !any_) output_.Write(kSummaryHeader);
  if (format_ == OutputFormat::kTable && !any_) output_.Write("no such runs\n");
}

}  // namespace sinkd::cli
