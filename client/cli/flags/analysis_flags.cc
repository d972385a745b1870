#include "client/cli/flags/analysis_flags.h"

#include <fmt/format.h>

#include "client/cli/commands/shard.h"
#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

void AddRunFlags(CLI::App& app, AnalyzeOptions& options) {
  const char* group = kRunGroup;
  v1::AnalysisSpec& spec = options.spec;
  AddModelFlag(app, options.model);
  app.add_option_function<std::string>(
         "--run,--run-id", [&](const std::string& id) { spec.set_run_id(id); },
         "Keep the records in this run of the server's store; a run that is there goes on")
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
                   : fmt::format("\"{}\" is no INDEX/COUNT with 0 <= INDEX < COUNT <= {}",
                                 client::MakePrintable(text), kMostShards);
      })
      ->group(group);
  app.add_flag_callback(
         "--no-summary", [&spec] { spec.set_no_summary(true); },
         "With --run: end without the summary, which reads all of the run; so it is with --shard, "
         "unless --summary-only is given")
      ->group(group);
  app.add_flag_callback(
         "--keep-open", [&spec] { spec.set_keep_run_open(true); },
         "With --run: leave the run open at the end, for more samples")
      ->group(group);
  AddChoice(app, "--lane", kLaneChoices, kLaneHelp, [&spec](int lane) {
    spec.set_lane(static_cast<v1::Lane>(lane));
  })->group(group);
  AddInteger(
      app, "--portrait",
      "Keep text and norms of the first so many samples whole, for pictures; 1 to 100",
      [&](int64_t value) { spec.mutable_portrait()->set_samples(static_cast<int32_t>(value)); })
      ->group(group);
  AddTemplateDateFlag(app, [&](const std::string& date) { spec.set_template_date(date); });
  app.add_flag("--records", options.records, "Ask for the records of the samples as well (JSON)")
      ->group(group);
  app.add_flag("--no-records", options.no_records, "No records of the samples")->group(group);
  app.add_flag("--summary-only", options.summary_only, "Only the summary, no records")
      ->group(group);
  app.add_flag("--no-chart", options.no_chart, "Tables without charts")->group(group);
}

void AddScoreFlags(CLI::App& app, v1::AnalysisSpec& spec) {
  const char* group = "Scores";
  app.add_flag_callback(
         "--exclude-self", [&] { spec.mutable_scores()->set_exclude_self(true); },
         "Leave a position's attention to itself out")
      ->group(group);
  AddChoice(
      app, "--divisor", kDivisorChoices,
      "Divide attention by the queries that see a position, or by all",
      [&](int value) { spec.mutable_scores()->set_divisor(static_cast<v1::QueryDivisor>(value)); })
      ->group(group);
  app.add_flag_callback(
         "--curves", [&] { spec.mutable_scores()->set_curves(true); },
         "Each sink's attention by block")
      ->group(group);
  app.add_flag_callback(
         "--all-positions", [&] { spec.mutable_scores()->set_all_positions(true); },
         "Attention received at every position, block and head (JSON, JSONL, CSV)")
      ->group(group);
}

void AddRateFlags(CLI::App& app, v1::AnalysisSpec& spec) {
  const char* group = "Sink rate";
  app.add_flag_callback(
         "--gu2024", [&] { spec.mutable_sink_rate()->set_preset(v1::SINK_RATE_PRESET_GU2024); },
         "As Gu et al. 2024: the first 64 tokens of each sample, shorter ones left out")
      ->group(group);
  AddNumber(app, "--epsilon", "A (block, head) counts when attention is over this; default 0.3",
            [&](double value) { spec.mutable_sink_rate()->set_epsilon(value); })
      ->group(group);
  AddInteger(
      app, "--rate-positions", "Rates for positions below this; default 64",
      [&](int64_t value) { spec.mutable_sink_rate()->set_positions(static_cast<int32_t>(value)); })
      ->group(group);
  AddInteger(app, "--first-tokens", "Cut samples to their first tokens; 0 takes whole samples",
             [&](int64_t value) {
               spec.mutable_sink_rate()->set_first_tokens(static_cast<int32_t>(value));
             })
      ->group(group);
}

void AddLevelFlags(CLI::App& app, v1::AnalysisSpec& spec) {
  const char* group = "Levels";
  AddNumber(app, "--min-share", "Share of the secondary sinks a distinct level holds; default 0.02",
            [&](double value) { spec.mutable_levels()->set_min_share(value); })
      ->group(group);
  AddInteger(app, "--top-tokens", "Most frequent tokens listed; default 10", [&](int64_t value) {
    spec.mutable_levels()->set_top_tokens(static_cast<int32_t>(value));
  })->group(group);
  app.add_flag_callback(
         "--include-primary-position",
         [&] { spec.mutable_levels()->set_include_primary_position(true); },
         "Count the primary sink's own position too, as the published files do")
      ->group(group);
}

void AddRegressionFlags(CLI::App& app, v1::AnalysisSpec& spec) {
  const char* group = "Regression";
  app.add_flag_callback(
         "--include-primary", [&] { spec.mutable_regression()->set_include_primary(true); },
         "Take sinks of kind primary as well")
      ->group(group);
  app.add_flag_callback(
         "--points", [&] { spec.mutable_regression()->set_points(true); },
         "Return the points (JSON, JSONL)")
      ->group(group);
}

void AddCompensationFlags(CLI::App& app, v1::AnalysisSpec& spec) {
  const char* group = "Compensation";
  AddInteger(app, "--bootstrap-samples", "Bootstrap draws, 0 for no intervals; default 1000",
             [&](int64_t value) {
               spec.mutable_compensation()->set_bootstrap_samples(static_cast<int32_t>(value));
             })
      ->group(group);
  AddInteger(
      app, "--seed", "Seed of the draws; default 0",
      [&](int64_t value) { spec.mutable_compensation()->set_seed(value); }, true)
      ->group(group);
}

}  // namespace

void AddAnalysisFlags(CLI::App& app, const FlagGroups& groups, AnalyzeOptions& options) {
  AddRunFlags(app, options);
  AddInputFlags(app, options.input);
  AddDetectionFlags(app, [&spec = options.spec] { return spec.mutable_detection(); });
  if (groups.scores) AddScoreFlags(app, options.spec);
  if (groups.rate) AddRateFlags(app, options.spec);
  if (groups.levels) AddLevelFlags(app, options.spec);
  if (groups.regression) AddRegressionFlags(app, options.spec);
  if (groups.compensation) AddCompensationFlags(app, options.spec);
}

}  // namespace sinkd::cli
