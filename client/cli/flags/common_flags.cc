#include "client/cli/flags/common_flags.h"

#include <utility>
#include <vector>

#include "client/cli/flags/flag_values.h"
#include "client/error_report.h"

namespace sinkd::cli {

void AddModelFlag(CLI::App& app, std::string& model) {
  app.add_option("-m,--model,MODEL", model, "Model to run on")
      ->envname("SINKCTL_MODEL")
      ->type_name("")
      ->group(kRunGroup);
}

void AddTemplateDateFlag(CLI::App& app, std::function<void(const std::string&)> set) {
  app.add_option_function<std::string>("--template-date", std::move(set),
                                       "The date chat templates see")
      ->type_name("YYYY-MM-DD")
      ->group(kRunGroup);
}

CLI::Option* AddLabels(CLI::App& app, const std::string& name, const std::string& help,
                       std::function<void(const std::string&, const std::string&)> add) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [add = std::move(add)](const std::vector<std::string>& labels) {
            for (const std::string& label : labels) {
              const size_t end = label.find('=');
              add(label.substr(0, end), label.substr(end + 1));
            }
          },
          help)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check([](const std::string& label) {
        const size_t end = label.find('=');
        return end != std::string::npos && end > 0
                   ? ""
                   : "\"" + client::MakePrintable(label) + "\" is not NAME=VALUE";
      });
}

void AddInputFlags(CLI::App& app, InputOptions& input) {
  const char* group = "Input";
  app.add_option("-i,--input", input.files,
                 "Samples to read, - for standard input, which is also the default when something "
                 "is piped in; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--text", input.texts, "A sample of plain text; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->group(group);
  AddChoice(app, "--input-format", kInputChoices,
            "How to read the input; auto goes by the file's name, then by its first character",
            [&](int value) { input.format = static_cast<InputFormat>(value); })
      ->group(group);
  app.add_flag("--lines", input.lines, "Plain text: each line is a sample, not each file")
      ->group(group);
  app.add_flag("--ignore-unknown-keys", input.ignore_unknown_keys,
               "JSONL: skip keys that mean nothing here instead of refusing the line")
      ->group(group);
}

}  // namespace sinkd::cli
