#include "client/cli/output/run_view.h"

#include <ctime>

#include <absl/strings/strip.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/model_view.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/series_view.h"
#include "client/cli/output/summary_view.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kSummaryColumns =
    "group,runs=run_count,samples=summary.samples,tokens=summary.positions,"
    "undecided_samples=summary.undecided_samples,primary=summary.levels.primary,"
    "secondary=summary.levels.secondary,noise=summary.levels.noise,"
    "secondary_per_1000_tokens=summary.levels.secondary_per_1000_tokens,"
    "samples_with_secondary=summary.levels.samples_with_secondary,"
    "distinct_levels=summary.levels.distinct_levels,entropy=summary.levels.entropy";

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

CsvTable::Words CsvWords(const v1::Run& run) {
  return {TimeText(run.create_time()), TimeText(run.update_time()), LabelText(run)};
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

}  // namespace

std::string RunId(const std::string& name) {
  return std::string(absl::StripPrefix(name, "runs/"));
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
                            .csv_columns =
                                "name,model,state,create_time=,update_time=,samples,failed_samples,"
                                "tokens,primary_sinks,secondary_sinks,noise_sinks,size_bytes,"
                                "labels=",
                            .csv_words = CsvWords,
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

RunSummaryWriter::RunSummaryWriter(const RunOptions& options, const GlobalOptions& global,
                                   const Terminal& terminal, Output& output)
    : options_(options),
      format_(global.output),
      csv_(kSummaryColumns, global.csv_raw),
      terminal_(terminal),
      output_(output) {}

void RunSummaryWriter::Add(const v1::SummarizeRunsResponse& summary) {
  switch (format_) {
    case OutputFormat::kJson:
      output_.Write((any_ ? ",\n  " : "{\"summaries\":[\n  ") + ToJson(summary));
      break;
    case OutputFormat::kJsonl:
      output_.Write(TypedJson("runSummary", ToJson(summary)) + '\n');
      break;
    case OutputFormat::kCsv:
      if (!any_) output_.Write(csv_.Header());
      output_.Write(csv_.Row({&summary}));
      break;
    case OutputFormat::kTable: {
      if (options_.summarize.order() == v1::SUMMARY_ORDER_NUMERIC) {
        series_.push_back(summary);
        break;
      }
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
  if (format_ == OutputFormat::kCsv && !any_) output_.Write(csv_.Header());
  if (format_ != OutputFormat::kTable) return;
  if (!series_.empty()) {
    output_.Write(RenderSeries(options_.summarize.label(), series_, terminal_));
  }
  if (!any_) output_.Write("no such runs\n");
}

}  // namespace sinkd::cli
