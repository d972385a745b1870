#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/studies/study_command.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr const StudyCommand* kStudies[] = {&kAlignStudy, &kPcaStudy,    &kClusterStudy,
                                            &kSwapStudy,  &kSteerStudy,  &kEntropyStudy,
                                            &kNormsStudy, &kMassiveStudy};

void AddTargetFlags(CLI::App& app, v1::RunStudyRequest& request) {
  const char* group = "Targets";
  AddChoices(app, "--kind", kKindChoices, "Kinds of sinks; default secondary", [&](int value) {
    request.mutable_targets()->add_kinds(static_cast<v1::SinkKind>(value));
  })->group(group);
  AddInteger(
      app, "--l-start", "Sinks that start at this layer only; default: see the study",
      [&](int64_t value) { request.mutable_targets()->set_l_start(static_cast<int32_t>(value)); })
      ->group(group);
  AddIntegers(app, "--token", "Sinks with these token ids only; default all", [&](int32_t value) {
    request.mutable_targets()->add_token_ids(value);
  })->group(group);
  AddInteger(
      app, "--limit", "A seeded draw of at most so many, 1 to 5000; default 2000",
      [&](int64_t value) { request.mutable_targets()->set_limit(static_cast<int32_t>(value)); })
      ->group(group);
}

void AddRunFlags(CLI::App& app, StudyOptions& options) {
  v1::RunStudyRequest& request = options.request;
  AddModelFlag(app, options.model);
  AddInteger(
      app, "--seed", "Seed of every draw; default 0",
      [&](int64_t value) { request.set_seed(value); }, true)
      ->group(kRunGroup);
  AddChoice(app, "--lane", kLaneChoices, kLaneHelp, [&request](int lane) {
    request.set_lane(static_cast<v1::Lane>(lane));
  })->group(kRunGroup);
  app.add_option_function<std::string>(
         "--time-budget",
         [&](const std::string& text) {
           const std::chrono::duration<double> seconds = *ParseDuration(text);
           request.set_time_budget_seconds(seconds.count());
         },
         "Report what is done after this long, e.g. 30s, 5m; default: shortly before --timeout")
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        return ParseDuration(text) ? "" : "\"" + text + "\" is no duration; e.g. 500ms, 30s, 5m";
      })
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--run", [&](const std::string& run) { request.set_run(client::RunName(run)); },
         "A stored run of the model: the report is kept with it, and without other input its "
         "samples "
         "are taken")
      ->type_name("ID")
      ->group(kRunGroup);
  AddTemplateDateFlag(app, [&](const std::string& date) { request.set_template_date(date); });
  app.add_flag("--no-chart", options.no_chart, "Tables without charts")->group(kRunGroup);
}

}  // namespace

std::span<const StudyCommand* const> StudyCommands() {
  return kStudies;
}

void AddStudyFlags(CLI::App& app, const StudyCommand& command, StudyOptions& options) {
  AddRunFlags(app, options);
  AddInputFlags(app, options.input);
  if (command.add_flags != nullptr) command.add_flags(app, options.request);
  if (command.targets) AddTargetFlags(app, options.request);
  AddDetectionFlags(app, [&options] { return options.request.mutable_detection(); });
}

}  // namespace sinkd::cli
