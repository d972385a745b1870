#include "client/cli/output/result_writer.h"

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/record_view.h"
#include "client/cli/output/summary_view.h"
#include "client/cli/studies/study_command.h"
#include "client/cli/studies/study_parts.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::string_view kAlphaColumns = "sample_index,block,head=,position=,alpha=";

// The last columns are the model and the run, if there is one.
CsvTable WithRun(std::string_view columns, const GlobalOptions& global) {
  return CsvTable(fmt::format("{},model=,run=", columns), global.csv_raw);
}

// A table a sample as it comes, then the summaries with their charts.
class AnalysisTable final : public ResultWriter {
 public:
  AnalysisTable(const AnalyzeOptions& options, const Terminal& terminal, Output& output)
      : options_(options), terminal_(terminal), output_(output) {}

  void Started(const v1::AnalyzeStarted& started) override {
    blocks_ = started.blocks();
    output_.Write(RenderStarted(started, terminal_));
  }
  void Record(const v1::SampleRecord& record) override {
    const Sections& sections = options_.sections;
    if (!ShowsRecords(sections)) return;
    output_.Write(RenderRecord(record,
                               {sections.contains(&kDetectAnalysis),
                                sections.contains(&kScoresAnalysis), !options_.no_chart},
                               terminal_));
  }
  void Summary(const v1::Summary& summary) override {
    output_.Write(
        RenderSummary(summary, {options_.sections, blocks_, !options_.no_chart}, terminal_));
  }

 private:
  const AnalyzeOptions& options_;
  const Terminal& terminal_;
  Output& output_;
  int blocks_ = 0;  // of the model
};

// The columns of the only section: a row a sink, a row a head and position with --all-positions, or
// what the analysis gives.
class AnalysisCsv final : public ResultWriter {
 public:
  AnalysisCsv(const GlobalOptions& global, const AnalyzeOptions& options, Output& output)
      : analysis_(**options.sections.begin()),
        alpha_rows_(options.spec.scores().all_positions()),
        csv_(WithRun(alpha_rows_                ? kAlphaColumns
                     : analysis_.csv != nullptr ? analysis_.csv_columns
                                                : kSinkColumns,
                     global)),
        output_(output) {
    output_.Write(csv_.Header());
  }

  void Started(const v1::AnalyzeStarted& started) override {
    const std::string& run = started.spec().run_id();
    csv_.EndWith({started.spec().model(), run.empty() ? "" : client::RunName(run)});
  }
  void Record(const v1::SampleRecord& record) override {
    if (analysis_.csv == nullptr && !alpha_rows_) output_.Write(SinkRows(record, csv_));
  }
  void Alpha(const v1::AlphaChunk& alpha) override {
    if (!alpha_rows_ || alpha.positions() <= 0) return;
    for (int i = 0; i < alpha.values_size(); ++i) {
      const bool defined = alpha.values(i) == alpha.values(i);
      output_.Write(csv_.Row({&alpha}, {fmt::to_string(alpha.first_head() + i / alpha.positions()),
                                        fmt::to_string(i % alpha.positions()),
                                        defined ? fmt::to_string(alpha.values(i)) : ""}));
    }
  }
  void Summary(const v1::Summary& summary) override {
    if (analysis_.csv != nullptr && !alpha_rows_) output_.Write(analysis_.csv(summary, csv_));
  }

 private:
  const AnalysisCommand& analysis_;
  const bool alpha_rows_;
  CsvTable csv_;
  Output& output_;
};

class StudyTable final : public ResultWriter {
 public:
  StudyTable(const StudyOptions& options, const Terminal& terminal, Output& output)
      : options_(options), terminal_(terminal), output_(output) {}

  void Started(const v1::StudyStarted& started) override {
    request_ = started.request();
    const std::string line =
        fmt::format("{}  {} blocks  {} on {}  {}", request_.model(), started.blocks(),
                    started.compute_type(), started.device(), DetectionText(request_.detection()));
    output_.Write(Paint(terminal_.color_out, Style::kDim, line) + '\n');
  }
  void Report(const v1::StudyReport& report) override {
    const StudyCommand& study = *options_.command;
    output_.Write(RenderReportHead(study.name, study.targets, report, request_, terminal_));
    output_.Write(study.render(report, {terminal_, !options_.no_chart}));
  }

 private:
  const StudyOptions& options_;
  const Terminal& terminal_;
  Output& output_;
  v1::RunStudyRequest request_;  // with its defaults
};

class StudyCsv final : public ResultWriter {
 public:
  StudyCsv(const GlobalOptions& global, const StudyCommand& study, Output& output)
      : study_(study), csv_(WithRun(study.csv_columns, global)), output_(output) {
    output_.Write(csv_.Header());
  }

  void Started(const v1::StudyStarted& started) override {
    csv_.EndWith({started.request().model(), started.request().run()});
  }
  void Report(const v1::StudyReport& report) override { output_.Write(study_.csv(report, csv_)); }

 private:
  const StudyCommand& study_;
  CsvTable csv_;
  Output& output_;
};

// JSON or JSONL; null for other formats.
std::unique_ptr<ResultWriter> MakeJsonWriter(OutputFormat format, Output& output) {
  if (format == OutputFormat::kJson) return std::make_unique<JsonWriter>(output);
  if (format == OutputFormat::kJsonl) return std::make_unique<JsonlWriter>(output);
  return nullptr;
}

}  // namespace

const std::string_view kSinkColumns =
    "sample_index,sample_id,tokens=positions,prompt_tokens,window_start,window_end,undecided,role=,"
    "position,token_id,token_text,kind,l_start,lifetime,layers,contiguous,margin,mlp_norm,"
    "state_norm,score,score_maximum,score_curve,attention_blocks,learned_sink_mass";

std::string SinkRows(const v1::SampleRecord& record, const CsvTable& csv) {
  std::string rows = csv.Row({&record.primary(), &record}, {"primary"});
  for (const v1::Sink& sink : record.sinks()) rows += csv.Row({&sink, &record}, {"sink"});
  return rows;
}

std::unique_ptr<ResultWriter> MakeResultWriter(const GlobalOptions& global,
                                               const AnalyzeOptions& options,
                                               const Terminal& terminal, Output& output) {
  if (auto json = MakeJsonWriter(global.output, output)) return json;
  if (global.output == OutputFormat::kCsv) {
    return std::make_unique<AnalysisCsv>(global, options, output);
  }
  return std::make_unique<AnalysisTable>(options, terminal, output);
}

std::unique_ptr<ResultWriter> MakeStudyWriter(const GlobalOptions& global,
                                              const StudyOptions& options, const Terminal& terminal,
                                              Output& output) {
  if (auto json = MakeJsonWriter(global.output, output)) return json;
  if (global.output == OutputFormat::kCsv) {
    return std::make_unique<StudyCsv>(global, *options.command, output);
  }
  return std::make_unique<StudyTable>(options, terminal, output);
}

}  // namespace sinkd::cli
