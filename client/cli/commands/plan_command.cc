#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/plan_view.h"
#include "client/cli/terminal/terminal.h"

namespace sinkd::cli {

namespace v1 = ::sinks::v1;

ExitCode RunPlan(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ModelOptions& options = invocation.models;
  const bool table = global.output == OutputFormat::kTable;
  v1::PlanModelRequest request = options.plan;
  request.set_name(options.model);
  bool fits = true;
  const ExitCode code = RunWithModels(
      global,
      [&](client::ModelClient& client, const client::CallOptions& call,
          Output& output) -> absl::Status {
        const absl::StatusOr<v1::PlanModelResponse> plan =
            client.Plan(request, table || options.tensors, call);
        if (!plan.ok()) return plan.status();
        fits = plan->plan().fits();
        if (!table) {
          output.Write(WritePlan(*plan, global));
          return absl::OkStatus();
        }
        absl::StatusOr<v1::PlanModelResponse> streamed = absl::UnknownError("not asked");
        if (!fits && plan->plan().residency() == v1::RESIDENCY_RESIDENT) {
          request.set_residency(v1::RESIDENCY_STREAMED);
          streamed = client.Plan(request, false, call);
        }
        output.Write(RenderPlan(*plan, streamed.ok() ? &streamed->plan() : nullptr, options.tensors,
                                DetectTerminal(global)));
        return absl::OkStatus();
      });
  return code == kExitOk && !fits ? kExitDoesNotFit : code;
}

}  // namespace sinkd::cli
