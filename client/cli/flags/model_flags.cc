#include "client/cli/flags/model_flags.h"

#include "client/cli/flags/flag_values.h"

namespace sinkd::cli {
namespace {

CLI::App* AddCommand(CLI::App& app, Invocation& invocation, const char* name,
                     const char* description, Command command) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->callback([&invocation, command] { invocation.command = command; });
  return sub;
}

void AddModel(CLI::App& command, ModelOptions& options, const char* help) {
  command.add_option("MODEL", options.model, help)->type_name("");
}

// How a model is held, or would be.
void AddLoadFlags(CLI::App& command, client::LoadOptions& load) {
  command
      .add_option("--device", load.device,
                  "Device of the server: cpu, cuda:0; auto: all its GPUs; or a map of blocks, "
                  "cuda:0=0-15,cuda:1=16-31; default: the server's")
      ->type_name("DEVICE");
  AddChoice(command, "--compute-type", ChoicesOf<sinks::v1::ComputeType>(),
            "Format to compute in; default: the server's, which is as stored where not set",
            [&load](int value) { load.compute_type = static_cast<sinks::v1::ComputeType>(value); });
  AddChoice(command, "--residency", ChoicesOf<sinks::v1::Residency>(),
            "All weights in memory, or two blocks at a time, read from disk; default: the server's",
            [&load](int value) { load.residency = static_cast<sinks::v1::Residency>(value); });
}

void AddPlan(CLI::App& app, Invocation& invocation) {
  ModelOptions& options = invocation.models;
  CLI::App* plan =
      AddCommand(app, invocation, "plan", "What loading a model would take, and whether it fits",
                 Command::kPlan);
  AddModel(*plan, options, "Model to plan");
  AddLoadFlags(*plan, options.load);
  AddInteger(*plan, "--length", "Length of the sample to plan for, in tokens; default 2048",
             [&options](int64_t value) { options.length = static_cast<int32_t>(value); });
  plan->add_flag("--tensors", options.tensors, "Every tensor, not groups of them");
  plan->footer(
      "Example:\n  sinkctl plan smollm2-135m --residency streamed --length 4096\n"
      "Exit code 6: the model does not fit.");
}

}  // namespace

void AddModelCommands(CLI::App& app, Invocation& invocation) {
  ModelOptions& options = invocation.models;
  CLI::App* models =
      AddCommand(app, invocation, "models", "List models, or show one", Command::kModels);
  AddModel(*models, options, "Show this one only");
  models->add_flag("--names", options.names, "Only the names, one a line");
  models->footer("Example:\n  sinkctl models --output json | jq '.models[].name'");

  FamilyOptions& families = invocation.families;
  CLI::App* family =
      AddCommand(app, invocation, "families", "Model families the server knows, or one in detail",
                 Command::kFamilies);
  family->add_option("FAMILY", families.family, "Show this one in detail")->type_name("");
  family->add_flag("--names", families.names, "Only the names, one a line");
  family->footer("Example:\n  sinkctl families qwen2");

  AddPlan(app, invocation);

  CLI::App* load = AddCommand(app, invocation, "load", "Load a model and wait until it is ready",
                              Command::kLoad);
  AddModel(*load, options, "Model to load");
  AddLoadFlags(*load, options.load);
  AddChoice(*load, "--activation-quantization", ChoicesOf<sinks::v1::ActivationQuantization>(),
            "Whether the inputs of quantized projections are rounded as config.json says; default: "
            "the server's, which is none where not set",
            [&options](int value) {
              options.load.activation_quantization =
                  static_cast<sinks::v1::ActivationQuantization>(value);
            });
  load->add_flag("--pin,!--no-pin", options.load.pinned,
                 "Keep it in memory when another load needs room; of a loaded model: from now on");
  load->footer("Example:\n  sinkctl load smollm2-135m --compute-type float32");

  CLI::App* unload =
      AddCommand(app, invocation, "unload", "Free a model's memory", Command::kUnload);
  AddModel(*unload, options, "Model to unload");
  unload->footer("Example:\n  sinkctl unload smollm2-135m");
}

}  // namespace sinkd::cli
