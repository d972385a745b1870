#include <fmt/format.h>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/output/model_view.h"
#include "client/cli/output/number_format.h"
#include "client/cli/terminal/progress_bar.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

ExitCode RunModels(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ModelOptions& options = invocation.models;
  return RunWithModels(global,
                       [&](client::ModelClient& client, const client::CallOptions& call,
                           Output& output) -> absl::Status {
                         const Terminal terminal = DetectTerminal(global);
                         if (!options.model.empty()) {
                           absl::StatusOr<v1::Model> model = client.Get(options.model, call);
                           if (model.ok())
                             output.Write(RenderOne(ModelListView(), *model, global, terminal));
                           return model.status();
                         }
                         ListWriter writer(ModelListView(), options.names, global, terminal,
                                           output);
                         const absl::Status status =
                             client.List(call, [&](const v1::Model& model) { writer.Add(model); });
                         if (status.ok()) writer.End();
                         return status;
                       });
}

ExitCode RunLoad(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const ModelOptions& options = invocation.models;
  return RunWithModels(global,
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
                           state.text = fmt::format("{} of {}", Bytes(response.bytes_done()),
                                                    Bytes(response.bytes_total()));
                           progress.Show(state);
                         };
                         v1::LoadModelRequest request = options.load;
                         request.set_name(options.model);
                         absl::StatusOr<v1::Model> model =
                             client.Load(std::move(request), call, show);
                         progress.Clear();
                         if (model.ok())
                           output.Write(RenderOne(ModelListView(), *model, global, terminal));
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
          output.Write(RenderOne(ModelListView(), *model, global, DetectTerminal(global)));
        }
        return model.status();
      });
}

std::string CheckModel(Invocation& invocation) {
  return invocation.models.model.empty() ? "which model? give MODEL; `sinkctl models` lists them"
                                         : "";
}

void AddModel(CLI::App& command, ModelOptions& options, const char* help) {
  command.add_option("MODEL", options.model, help)->type_name("");
}

// How a model is held, or would be: `load` is the request of a load or of a plan.
template <typename Request>
void AddLoadFlags(CLI::App& command, Request& load) {
  command
      .add_option_function<std::string>(
          "--device", [&load](const std::string& device) { load.set_device(device); },
          "Device of the server: cpu, cuda:0; auto: all its GPUs; or a map of blocks, "
          "cuda:0=0-15,cuda:1=16-31; default: the server's")
      ->type_name("DEVICE");
  AddChoice(command, "--compute-type", ChoicesOf<v1::ComputeType>(),
            "Format to compute in; default: the server's, which is as stored where not set",
            [&load](int value) { load.set_compute_type(static_cast<v1::ComputeType>(value)); });
  AddChoice(command, "--residency", ChoicesOf<v1::Residency>(),
            "All weights in memory, or two blocks at a time, read from disk; default: the server's",
            [&load](int value) { load.set_residency(static_cast<v1::Residency>(value)); });
}

void AddPlan(CLI::App& app, Invocation& invocation) {
  ModelOptions& options = invocation.models;
  CLI::App* plan =
      AddCommand(app, invocation, "plan", "What loading a model would take, and whether it fits",
                 RunPlan, CheckModel);
  AddModel(*plan, options, "Model to plan");
  AddLoadFlags(*plan, options.plan);
  AddInteger(
      *plan, "--length", "Length of the sample to plan for, in tokens; default 2048",
      [&options](int64_t value) { options.plan.set_positions(static_cast<int32_t>(value)); });
  plan->add_flag("--tensors", options.tensors, "Every tensor, not groups of them");
  plan->footer(
      "Example:\n  sinkctl plan smollm2-135m --residency streamed --length 4096\n"
      "Exit code 6: the model does not fit.");
}

}  // namespace

void AddModelCommands(CLI::App& app, Invocation& invocation) {
  ModelOptions& options = invocation.models;
  CLI::App* models = AddCommand(app, invocation, "models", "List models, or show one", RunModels);
  AddModel(*models, options, "Show this one only");
  models->add_flag("--names", options.names, "Only the names, one a line");
  models->footer("Example:\n  sinkctl models --output json | jq '.models[].name'");

  FamilyOptions& families = invocation.families;
  CLI::App* family = AddCommand(app, invocation, "families",
                                "Model families the server knows, or one in detail", RunFamilies);
  family->add_option("FAMILY", families.family, "Show this one in detail")->type_name("");
  family->add_flag("--names", families.names, "Only the names, one a line");
  family->footer("Example:\n  sinkctl families qwen2");

  AddPlan(app, invocation);

  CLI::App* load = AddCommand(app, invocation, "load", "Load a model and wait until it is ready",
                              RunLoad, CheckModel);
  AddModel(*load, options, "Model to load");
  AddLoadFlags(*load, options.load);
  AddChoice(
      *load, "--activation-quantization", ChoicesOf<v1::ActivationQuantization>(),
      "Whether the inputs of quantized projections are rounded as config.json says; default: the "
      "server's, which is none where not set",
      [&options](int value) {
        options.load.set_activation_quantization(static_cast<v1::ActivationQuantization>(value));
      });
  load->add_flag_function(
      "--pin,!--no-pin", [&options](int64_t count) { options.load.set_pinned(count > 0); },
      "Keep it in memory when another load needs room; of a loaded model: from now on");
  load->footer("Example:\n  sinkctl load smollm2-135m --compute-type float32");

  CLI::App* unload =
      AddCommand(app, invocation, "unload", "Free a model's memory", RunUnload, CheckModel);
  AddModel(*unload, options, "Model to unload");
  unload->footer("Example:\n  sinkctl unload smollm2-135m");
}

}  // namespace sinkd::cli
