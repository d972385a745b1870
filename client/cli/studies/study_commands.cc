#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/flags/parameter_flags.h"
#include "client/cli/studies/study_command.h"
#include "client/run_client.h"

namespace sinkd::cli {

extern const StudyCommand kAlignStudy;
extern const StudyCommand kPcaStudy;
extern const StudyCommand kClusterStudy;
extern const StudyCommand kSwapStudy;
extern const StudyCommand kSteerStudy;
extern const StudyCommand kEntropyStudy;
extern const StudyCommand kNormsStudy;
extern const StudyCommand kMassiveStudy;
extern const StudyCommand kAblateStudy;

namespace {

namespace v1 = ::sinks::v1;

constexpr const StudyCommand* kStudies[] = {&kAlignStudy, &kPcaStudy,     &kClusterStudy,
                                            &kSwapStudy,  &kSteerStudy,   &kEntropyStudy,
                                            &kNormsStudy, &kMassiveStudy, &kAblateStudy};

const google::protobuf::FieldDescriptor* FieldOf(const StudyCommand& command) {
  return v1::RunStudyRequest::descriptor()->FindFieldByName(command.name);
}

void AddRunFlags(CLI::App& app, StudyOptions& options) {
  v1::RunStudyRequest& request = options.request;
  AddModelFlag(app, options.model);
  AddInteger(
      app, "--seed", "Seed of every draw; default 0",
      [&](int64_t value) { request.set_seed(value); }, true)
      ->group(kRunGroup);
  AddChoice(app, "--lane", ChoicesOf<v1::Lane>(), kLaneHelp, [&request](int lane) {
    request.set_lane(static_cast<v1::Lane>(lane));
  })->group(kRunGroup);
  AddDuration(
      app, "--time-budget",
      "Report what is done after this long, e.g. 30s, 5m; default: shortly before --timeout",
      [&request](std::chrono::duration<double> time) {
        request.set_time_budget_seconds(time.count());
      })
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--run", [&](const std::string& run) { request.set_run(client::RunName(run)); },
         "A stored run of the model: the report is kept with it, and without other input its "
         "samples are taken")
      ->type_name("ID")
      ->group(kRunGroup);
  AddTemplateDateFlag(app, [&](const std::string& date) { request.set_template_date(date); });
  app.add_flag("--no-chart", options.no_chart, "Tables without charts")->group(kRunGroup);
}

}  // namespace

std::span<const StudyCommand* const> StudyCommands() {
  return kStudies;
}

google::protobuf::Message& ParametersOf(const StudyCommand& command, v1::RunStudyRequest& request) {
  return *request.GetReflection()->MutableMessage(&request, FieldOf(command));
}

void AddStudyFlags(CLI::App& app, const StudyCommand& command, StudyOptions& options) {
  AddRunFlags(app, options);
  AddInputFlags(app, options.input);
  AddParameterFlags(
      app, "Study", *FieldOf(command)->message_type(),
      [&command, &options]() -> auto& { return ParametersOf(command, options.request); });
  if (command.targets) {
    AddParameterFlags(app, "Targets", *v1::TargetFilter::descriptor(),
                      [&options]() -> auto& { return *options.request.mutable_targets(); });
  }
  AddParameterFlags(app, "Detection", *v1::DetectionParameters::descriptor(),
                    [&options]() -> auto& { return *options.request.mutable_detection(); });
}

}  // namespace sinkd::cli
