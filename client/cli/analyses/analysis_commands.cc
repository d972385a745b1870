#include <algorithm>

#include <fmt/format.h>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/commands/shard.h"
#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/flags/parameter_flags.h"
#include "client/error_report.h"

namespace sinkd::cli {

extern const AnalysisCommand kLevelsAnalysis;
extern const AnalysisCommand kRegressionAnalysis;
extern const AnalysisCommand kCompensationAnalysis;
extern const AnalysisCommand kSinkRateAnalysis;
extern const AnalysisCommand kHeadsAnalysis;

const AnalysisCommand kDetectAnalysis = {
    .name = "detect",
    .field = "detection",
    .group = "Detection",
    .description = "Find the sinks of each sample",
    .shows = "Sinks of each sample",
    .example = "sinkctl detect smollm2-135m --input prompts.jsonl --output csv > sinks.csv",
    .per_sample = true,
};

namespace {

namespace v1 = ::sinks::v1;

constexpr const AnalysisCommand* kAnalyses[] = {
    &kDetectAnalysis,       &kScoresAnalysis,   &kLevelsAnalysis, &kRegressionAnalysis,
    &kCompensationAnalysis, &kSinkRateAnalysis, &kHeadsAnalysis};

const google::protobuf::FieldDescriptor* FieldOf(const AnalysisCommand& command) {
  return v1::AnalysisSpec::descriptor()->FindFieldByName(std::string(command.field));
}

void AddRunFlags(CLI::App& app, AnalyzeOptions& options) {
  const char* group = kRunGroup;
  v1::AnalysisSpec& spec = options.spec;
  AddModelFlag(app, options.model);
  app.add_option_function<std::string>(
         "--run,--run-id", [&](const std::string& id) { spec.set_run_id(id); },
         "Keep the records in this run of the server's store; an existing run is resumed")
      ->type_name("ID")
      ->group(group);
  AddLabels(app, "--label", "With --run: a label of a new run; may be given several times",
            [&spec](const std::string& name, const std::string& value) {
              (*spec.mutable_run_labels())[name] = value;
            })
      ->group(group);
  app.add_flag("--resume", options.resume,
               "With --run: send only the samples that the run does not hold")
      ->group(group);
  app.add_flag_callback(
         "--replace", [&spec] { spec.set_replace(true); },
         "With --run: a sample whose id the run holds with another text takes its place")
      ->group(group);
  AddDuration(app, "--retry-for",
              "Where the server cannot be reached or has no room, try again for so long after the "
              "last answer, e.g. 15m; default: 6 times, in 16 s",
              [&options](std::chrono::milliseconds time) { options.retry_for = time; })
      ->group(group);
  app.add_option("--shard", options.shard,
                 "Take the samples of one shard only, 0/8 to 7/8 of 8; with --run, all shards may "
                 "write to one run, which stays open")
      ->type_name("INDEX/COUNT")
      ->check([](const std::string& text) {
        return ParseShard(text)
                   ? std::string()
                   : fmt::format("\"{}\" is not INDEX/COUNT with 0 <= INDEX < COUNT <= {}",
                                 client::MakePrintable(text), kMostShards);
      })
      ->group(group);
  app.add_flag_callback(
         "--no-summary", [&spec] { spec.set_no_summary(true); },
         "With --run: end without the summary, which reads all of the run; implied by --shard, "
         "unless --summary-only is given")
      ->group(group);
  app.add_flag_callback(
         "--keep-open", [&spec] { spec.set_keep_run_open(true); },
         "With --run: leave the run open at the end, for more samples")
      ->group(group);
  AddChoice(app, "--lane", ChoicesOf<v1::Lane>(), kLaneHelp, [&spec](int lane) {
    spec.set_lane(static_cast<v1::Lane>(lane));
  })->group(group);
  AddParameterFlags(app, group, *v1::PortraitParameters::descriptor(),
                    [&spec]() -> auto& { return *spec.mutable_portrait(); });
  AddTemplateDateFlag(app, [&](const std::string& date) { spec.set_template_date(date); });
  app.add_flag("--records", options.records, "Ask for the records of the samples as well (JSON)")
      ->group(group);
  app.add_flag("--no-records", options.no_records, "No records of the samples")->group(group);
  app.add_flag("--summary-only", options.summary_only, "Only the summary, no records")
      ->group(group);
  app.add_flag("--no-chart", options.no_chart, "Tables without charts")->group(group);
}

}  // namespace

std::span<const AnalysisCommand* const> AnalysisCommands() {
  return kAnalyses;
}

bool ShowsRecords(const Sections& sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const AnalysisCommand* command) { return command->per_sample; });
}

google::protobuf::Message& ParametersOf(const AnalysisCommand& command, v1::AnalysisSpec& spec) {
  return *spec.GetReflection()->MutableMessage(&spec, FieldOf(command));
}

void AddAnalysisFlags(CLI::App& app, std::span<const AnalysisCommand* const> commands,
                      AnalyzeOptions& options) {
  AddRunFlags(app, options);
  AddInputFlags(app, options.input);
  for (const AnalysisCommand* each : kAnalyses) {
    const bool taken =
        each == &kDetectAnalysis ||
        std::any_of(commands.begin(), commands.end(), [each](const AnalysisCommand* command) {
          return command == each || (each == &kScoresAnalysis && command->takes_scores);
        });
    if (!taken) continue;
    AddParameterFlags(app, each->group, *FieldOf(*each)->message_type(),
                      [each, &options]() -> auto& { return ParametersOf(*each, options.spec); });
  }
}

CLI::Option* AddSection(CLI::App& app, const AnalysisCommand& command, Sections& sections) {
  return app.add_flag_callback(
      fmt::format("--{}", command.name), [&command, &sections] { sections.insert(&command); },
      command.shows);
}

}  // namespace sinkd::cli
