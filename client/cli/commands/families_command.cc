#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/family_view.h"
#include "client/error_report.h"
#include "server/base/nearest_word.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

std::vector<std::string> Names(const v1::ListFamiliesResponse& families) {
  std::vector<std::string> names;
  for (const v1::Family& family : families.families()) {
    names.push_back(client::MakePrintable(family.model_type()));
  }
  return names;
}

}  // namespace

ExitCode RunFamilies(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const FamilyOptions& options = invocation.families;
  std::string problem;
  const ExitCode code = RunWithModels(
      global,
      [&](client::ModelClient& client, const client::CallOptions& call,
          Output& output) -> absl::Status {
        const absl::StatusOr<v1::ListFamiliesResponse> families =
            client.Call(&client::ModelClient::Stub::ListFamilies, {}, call);
        if (!families.ok()) return families.status();
        if (options.names) {
          for (const std::string& name : Names(*families)) output.Write(name + '\n');
          return absl::OkStatus();
        }
        const Terminal terminal = DetectTerminal(global);
        if (options.family.empty()) {
          output.Write(RenderFamilies(*families, global, terminal));
          return absl::OkStatus();
        }
        const auto& all = families->families();
        const auto found = std::find_if(all.begin(), all.end(), [&](const v1::Family& family) {
          return family.model_type() == options.family;
        });
        if (found != all.end()) {
          output.Write(RenderFamily(*found, global, terminal));
        } else {
          problem = fmt::format("no family \"{}\"{}\n  `sinkctl families --names` lists them",
                                client::MakePrintable(options.family),
                                DidYouMean(options.family, Names(*families)));
        }
        return absl::OkStatus();
      });
  if (code != kExitOk || problem.empty()) return code;
  Say(problem);
  return kExitUsage;
}

}  // namespace sinkd::cli
