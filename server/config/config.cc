#include "server/config/config.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "server/base/control_group.h"
#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/config/config_access.h"
#include "server/config/config_file.h"
#include "server/config/config_settings.h"
#include "server/config/config_store.h"
#include "server/config/config_values.h"

namespace sinkd {
namespace {

std::string Flag(std::string_view name) {
  return fmt::format("--{}", name);
}

std::string Variable(std::string_view name) {
  std::string variable = "SINKD_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return variable;
}

// What was typed, by setting; unset settings are absent.
struct CommandLine {
  std::map<std::string, std::vector<std::string>> values;
  std::string config_file;
  bool print_config = false;
  std::optional<std::string> text;  // of --help and --version
};

// `unknown` are the arguments that are no setting.
absl::Status CheckArguments(const CommandLine& line, const std::vector<std::string>& unknown) {
  for (const auto& [name, values] : line.values) {
    for (const std::string& value : values) {
      if (value.starts_with("--")) {
        return BadValue({Flag(name), value}, "followed by a value", "give it one");
      }
    }
  }
  if (unknown.empty()) return absl::OkStatus();
  std::vector<std::string> flags = {"--config", "--print-config", "--help", "--version"};
  for (const Setting& setting : Settings()) flags.push_back(Flag(setting.name));
  const std::string typed = unknown.front().substr(0, unknown.front().find('='));
  return InvalidArgument("the command line has an unknown setting",
                         {.reason = "COMMAND_LINE_INVALID",
                          .subject = "command line",
                          .value = unknown.front(),
                          .fix = "see sinkd --help" + DidYouMean(typed, flags)});
}

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                             std::string_view version) {
  const Config defaults;
  CommandLine line;
  CLI::App app(
      "sinkd serves language models over gRPC and streams analyses of their attention sinks.",
      "sinkd");
  app.footer(
      "Each flag has a variable (--max-queue: SINKD_MAX_QUEUE) and a key in the file of --config\n"
      "(max-queue = 64). A flag overrides its variable, and a variable overrides the file.");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", fmt::format("sinkd {}", version), "Print the version");
  app.add_option("--config", line.config_file, "TOML file with settings")->type_name("FILE");
  app.add_flag("--print-config", line.print_config,
               "Print the current settings as a file for --config, and exit");
  // CheckArguments reports extras. The parser would take a flag as the value of the previous flag
  // if that lacks one, and then complain about the next argument.
  app.allow_extras();
  std::map<std::string, bool> switches;
  for (const Setting& setting : Settings()) {
    const std::string unset = setting.show(defaults);
    const std::string help = unset == "\"\"" || unset == "[]"
                                 ? setting.help
                                 : fmt::format("{} (default {})", setting.help, unset);
    if (*setting.type == '\0') {
      app.add_flag(Flag(setting.name), switches[setting.name], help);
    } else {
      app.add_option(Flag(setting.name), line.values[setting.name], help)
          ->type_name(setting.type)
          ->expected(1)
          ->take_all();
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
  } catch (const CLI::CallForVersion&) {
    line.text = app.version() + "\n";
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(error.what(),
                           {.reason = "COMMAND_LINE_INVALID", .fix = "see sinkd --help"});
  }
  for (const auto& [name, on] : switches) {
    if (app.count(Flag(name)) > 0) line.values[name] = {on ? "true" : "false"};
  }
  std::erase_if(line.values, [](const auto& item) { return item.second.empty(); });
  if (!line.text) SINKD_RETURN_IF_ERROR(CheckArguments(line, app.remaining()));
  return line;
}

// The values of `setting` from the first source that has any; empty when none has.
std::vector<Given> Collect(const Setting& setting, const CommandLine& line,
                           const Environment& environment, const ConfigFile& file,
                           const std::string& file_name) {
  std::vector<Given> all;
  const auto take = [&](const std::string& origin, const std::vector<std::string>& values) {
    for (const std::string& value : values) all.push_back({origin, value});
  };
  if (const auto typed = line.values.find(setting.name); typed != line.values.end()) {
    take(Flag(setting.name), typed->second);
    return all;
  }
  const std::string variable = Variable(setting.name);
  if (const std::optional<std::string> value = environment(variable); value && !value->empty()) {
    take(variable,
         setting.repeatable ? CLI::detail::split(*value, ',') : std::vector<std::string>{*value});
    return all;
  }
  if (const auto written = file.find(setting.name); written != file.end()) {
    take(fmt::format("{} in {}", setting.name, file_name), written->second);
  }
  return all;
}

absl::Status CheckKeys(const ConfigFile& file, const std::string& file_name) {
  std::vector<std::string_view> names;
  for (const Setting& setting : Settings()) names.emplace_back(setting.name);
  for (const auto& [key, values] : file) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    return InvalidArgument(
        fmt::format("{} has an unknown key", file_name),
        {.reason = "CONFIG_FILE_INVALID",
         .subject = file_name,
         .value = key,
         .fix = "see sinkd --print-config for all keys" + DidYouMean(key, names)});
  }
  return absl::OkStatus();
}

absl::Status CheckWhole(const Config& config) {
  if (config.model_root.empty()) {
    return InvalidArgument("--model-root is missing",
                           {.reason = "CONFIG_INVALID",
                            .subject = "--model-root",
                            .fix = "name the folder that holds one folder per model"});
  }
  SINKD_RETURN_IF_ERROR(CheckStore(config));
  return CheckAccess(config);
}

}  // namespace

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<ConfigOutcome> ParseConfig(int argc, const char* const* argv,
                                          std::string_view version,
                                          const Environment& environment) {
  SINKD_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(argc, argv, version));
  if (line.text) return ConfigOutcome{.text = line.text};

  const std::string file_name =
      line.config_file.empty() ? environment(Variable("config")).value_or("") : line.config_file;
  ConfigFile file;
  if (!file_name.empty()) {
    SINKD_ASSIGN_OR_RETURN(file, ReadConfigFile(file_name));
    SINKD_RETURN_IF_ERROR(CheckKeys(file, file_name));
  }
  ConfigOutcome outcome;
  for (const Setting& setting : Settings()) {
    const std::vector<Given> given = Collect(setting, line, environment, file, file_name);
    if (given.size() > 1 && !setting.repeatable) {
      return BadValue({given[0].origin, fmt::format("{} and {}", given[0].value, given[1].value)},
                      "given once", "keep one of them");
    }
    for (const Given& one : given) SINKD_RETURN_IF_ERROR(setting.apply(one, outcome.config));
  }
  SINKD_RETURN_IF_ERROR(CheckWhole(outcome.config));
  if (outcome.config.state_dir.empty()) outcome.config.state_dir = DefaultStateDir(environment);
  if (outcome.config.threads == 0) {
    outcome.config.threads = UsableCores();
  }
  if (line.print_config) outcome.text = ConfigToToml(outcome.config);
  return outcome;
}

std::string ConfigToToml(const Config& config) {
  std::string text;
  for (const Setting& setting : Settings()) {
    text += fmt::format("{} = {}\n", setting.name, setting.show(config));
  }
  return text;
}

}  // namespace sinkd
