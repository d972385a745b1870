#include <fmt/format.h>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/model_session.h"
#include "client/cli/output/model_view.h"
#include "client/cli/output/number_format.h"
#include "client/cli/terminal/progress_bar.h"

namespace sinkd::cli {

namespace v1 = ::sinks::v1;

ExitCode RunModels(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ModelOptions& options = invocation.models;
  return RunWithModels(
      global,
      [&](client::ModelClient& client, const client::CallOptions& call,
          Output& output) -> absl::Status {
        const Terminal terminal = DetectTerminal(global);
        if (!options.model.empty()) {
          absl::StatusOr<v1::Model> model = client.Get(options.model, call);
          if (model.ok()) output.Write(RenderOne(ModelListView(), *model, global.output, terminal));
          return model.status();
        }
        ListWriter writer(ModelListView(), options.names, global.output, terminal, output);
        const absl::Status status =
            client.List(call, [&](const v1::Model& model) { writer.Add(model); });
        if (status.ok()) writer.End();
        return status;
      });
}

ExitCode RunLoad(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ModelOptions& options = invocation.models;
  return RunWithModels(
      global,
      [&](client::ModelClient& client, const client::CallOptions& call,
          Output& output) -> absl::Status {
        const Terminal terminal = DetectTerminal(global);
        ProgressBar progress(terminal.progress, terminal);
        const auto show = [&](const v1::LoadModelResponse& response) {
          ProgressState state;
          if (response.bytes_total() > 0) {
            state.share = static_cast<double>(response.bytes_done()) /
                          static_cast<double>(response.bytes_total());
          }
          state.text =
              fmt::format("{} of {}", Bytes(response.bytes_done()), Bytes(response.bytes_total()));
          progress.Show(state);
        };
        absl::StatusOr<v1::Model> model = client.Load(options.model, options.load, call, show);
        progress.Clear();
        if (model.ok()) output.Write(RenderOne(ModelListView(), *model, global.output, terminal));
        return model.status();
      });
}

ExitCode RunUnload(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  return RunWithModels(
      global,
      [&](client::ModelClient& client, const client::CallOptions& call,
          Output& output) -> absl::Status {
        absl::StatusOr<v1::Model> model = client.Unload(invocation.models.model, call);
        if (model.ok()) {
          output.Write(RenderOne(ModelListView(), *model, global.output, DetectTerminal(global)));
        }
        return model.status();
      });
}

}  // namespace sinkd::cli
