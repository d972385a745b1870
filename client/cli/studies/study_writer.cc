#include "client/cli/studies/study_writer.h"

#include <utility>

#include <fmt/format.h>

#include "client/cli/output/csv_row.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/record_view.h"
#include "client/cli/studies/study_parts.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

class StudyTable : public StudyWriter {
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

class StudyCsv : public StudyWriter {
 public:
  StudyCsv(const StudyOptions& options, Output& output) : options_(options), output_(output) {
    output_.Write(options_.command->csv_header);
    output_.Write(",model,run\r\n");
  }
  void Started(const v1::StudyStarted& started) override {
    CsvRow::EndWith(started.request().model(), started.request().run());
  }
  void Report(const v1::StudyReport& report) override {
    output_.Write(options_.command->csv(report));
  }

 private:
  const StudyOptions& options_;
  Output& output_;
};

class StudyJsonl : public StudyWriter {
 public:
  explicit StudyJsonl(Output& output) : output_(output) {}
  void BadInput(const InputError& error) override { Write("badInput", BadInputJson(error)); }
  void Started(const v1::StudyStarted& started) override { Write("started", ToJson(started)); }
  void SampleError(const v1::SampleError& error, const std::string& origin) override {
    Write("sampleError", SampleErrorJson(error, origin));
  }
  void Report(const v1::StudyReport& report) override { Write("report", ToJson(report)); }
  void End(const Outcome& outcome) override { Write("outcome", OutcomeJson(outcome)); }

 private:
  void Write(const char* type, const std::string& body) {
    output_.Write(TypedJson(type, body) + '\n');
  }
  Output& output_;
};

class StudyJson : public StudyWriter {
 public:
  explicit StudyJson(Output& output) : output_(output) {}
  void BadInput(const InputError& error) override {
    AddResult(TypedJson("badInput", BadInputJson(error)));
  }
  void Started(const v1::StudyStarted& started) override { started_ = ToJson(started); }
  void SampleError(const v1::SampleError& error, const std::string& origin) override {
    AddResult(TypedJson("sampleError", SampleErrorJson(error, origin)));
  }
  void Report(const v1::StudyReport& report) override { report_ = ToJson(report); }
  void End(const Outcome& outcome) override {
    output_.Write("{\"results\":[" + results_ + "]");
    if (!started_.empty()) output_.Write(",\n\"started\":" + started_);
    if (!report_.empty()) output_.Write(",\n\"report\":" + report_);
    output_.Write(",\n\"outcome\":" + OutcomeJson(outcome) + "}\n");
  }

 private:
  void AddResult(const std::string& object) {
    results_ += (results_.empty() ? "\n  " : ",\n  ") + object;
  }

  Output& output_;
  std::string results_, started_, report_;
};

}  // namespace

std::unique_ptr<StudyWriter> MakeStudyWriter(const GlobalOptions& global,
                                             const StudyOptions& options, const Terminal& terminal,
                                             Output& output) {
  switch (global.output) {
    case OutputFormat::kJson:
      return std::make_unique<StudyJson>(output);
    case OutputFormat::kJsonl:
      return std::make_unique<StudyJsonl>(output);
    case OutputFormat::kCsv:
      return std::make_unique<StudyCsv>(options, output);
    case OutputFormat::kTable:
      break;
  }
  return std::make_unique<StudyTable>(options, terminal, output);
}

}  // namespace sinkd::cli
