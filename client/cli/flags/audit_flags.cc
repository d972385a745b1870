#include <array>
#include <functional>

#include <fmt/format.h>

#include "client/cli/commands/commands.h"
#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/model_client.h"
#include "client/run_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::array kFormatChoices = {
    Choice{"table", static_cast<int>(AuditFormat::kTable)},
    Choice{"json", static_cast<int>(AuditFormat::kJson)},
    Choice{"junit", static_cast<int>(AuditFormat::kJunit)},
    Choice{"markdown", static_cast<int>(AuditFormat::kMarkdown)},
    Choice{"text", static_cast<int>(AuditFormat::kText)},
};

// --candidate and --baseline, and the filters of the same name.
void AddSelection(CLI::App& app, const std::string& side, const std::string& what,
                  std::function<v1::RunSelection*()> selection) {
  const std::string group = what + "; with filters, runs that are in both";
  app.add_option_function<std::vector<std::string>>(
         "--" + side,
         [selection](const std::vector<std::string>& runs) {
           for (const std::string& run : runs) selection()->add_names(client::RunName(run));
         },
         "A run; several between commas, or given several times")
      ->type_name("RUN")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option_function<std::string>(
         "--" + side + "-model",
         [selection](const std::string& model) {
           selection()->mutable_filter()->set_model(client::ModelName(model));
         },
         "Runs of this model")
      ->type_name("MODEL")
      ->group(group);
  AddLabels(app, "--" + side + "-label", "Runs with this label; may be given several times",
            [selection](const std::string& name, const std::string& value) {
              (*selection()->mutable_filter()->mutable_labels())[name] = value;
            })
      ->group(group);
}

// What the flags must say together.
std::string Check(Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const AuditOptions& options = invocation.audit;
  if (options.policy_file.empty()) return "which policy? give --policy FILE";
  if (!options.request.has_candidate()) {
    return "which runs? give --candidate RUN, --candidate-model or --candidate-label";
  }
  const bool other = !options.format &&
                     (global.output == OutputFormat::kCsv || global.output == OutputFormat::kJsonl);
  return other ? "audits are written as table, json, junit, markdown or text" : "";
}

}  // namespace

void AddAuditCommand(CLI::App& app, Invocation& invocation) {
  AuditOptions& options = invocation.audit;
  CLI::App* sub =
      AddCommand(app, invocation, "audit",
                 "Judge stored runs by a policy: exit code 0 pass, 1 fail, 7 not enough data",
                 RunAudit, Check);
  sub->add_option("--policy", options.policy_file, "The policy, YAML; - for standard input")
      ->type_name("FILE");
  AddSelection(*sub, "candidate", "What is judged",
               [&options] { return options.request.mutable_candidate(); });
  AddSelection(*sub, "baseline", "What it is compared with",
               [&options] { return options.request.mutable_baseline(); });
  AddInteger(
      *sub, "--seed", "Seed of the tests' draws; default 0",
      [&options](int64_t value) { options.request.set_seed(value); }, true);
  AddChoice(*sub, "-o,--output", kFormatChoices, "Format of the result on standard output",
            [&options](int value) { options.format = static_cast<AuditFormat>(value); });
  sub->footer(
      "Examples:\n"
      "  sinkctl audit --policy release-gate.yaml --candidate new-1.5 --baseline old-1.4\n"
      "  sinkctl audit --policy smoke.yaml --candidate-label branch=main -o junit > audit.xml\n"
      "deploy/policies holds ready policies; docs/audits.md describes their language.");
}

}  // namespace sinkd::cli
