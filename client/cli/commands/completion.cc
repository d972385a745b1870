#include "client/cli/commands/completion.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinkd::cli {
namespace {

struct Flag {
  std::string long_name;   // with dashes
  std::string short_name;  // with a dash, or empty
  std::string help;
  bool takes_value = false;
  bool takes_file = false;
  bool takes_model = false;
  bool takes_run = false;
  std::vector<std::string> words;  // the values it takes, when they are few
};

// "{a,b}" as its words.
std::vector<std::string> WordsOf(const std::string& type_name) {
  if (!type_name.starts_with('{')) return {};
  return absl::StrSplit(type_name.substr(1, type_name.size() - 2), ',');
}

std::vector<Flag> FlagsOf(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    Flag flag;
    flag.long_name = "--" + option->get_lnames().front();
    if (!option->get_snames().empty()) flag.short_name = "-" + option->get_snames().front();
    flag.help = option->get_description();
    flag.takes_value = option->get_items_expected_max() > 0;
    flag.takes_file = option->get_type_name() == "FILE";
    flag.takes_model = flag.long_name.ends_with("-model");
    flag.takes_run = flag.long_name == "--run" || flag.long_name == "--candidate" ||
                     flag.long_name == "--baseline";
    flag.words = WordsOf(option->get_type_name());
    flags.push_back(std::move(flag));
  }
  return flags;
}

// What a command takes without a flag: names that the server has, words, or nothing.
struct Positional {
  const char* names = nullptr;  // "models", "families", "runs"
  bool file = false;
  std::vector<std::string> words;
};

Positional PositionalOf(const CLI::App& app) {
  Positional positional;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    positional.words = WordsOf(option->get_type_name());
    if (!positional.words.empty()) continue;
    const std::string name = option->get_name(true);
    positional.file = name == "FILE";
    positional.names = name == "FAMILY" ? "families" : name == "RUN" ? "runs" : "models";
  }
  return positional;
}

struct NamedCommand {
  std::string path;  // "load", "runs list"
  const CLI::App* app = nullptr;
};

// All commands, those below others after them.
std::vector<NamedCommand> Commands(const CLI::App& app) {
  std::vector<NamedCommand> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back({command->get_name(), command});
    for (const CLI::App* below : command->get_subcommands({})) {
      commands.push_back({command->get_name() + " " + below->get_name(), below});
    }
  }
  return commands;
}

// The commands right under `app`.
std::string Names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

// A case that adds the word at hand to `command` where that makes a command.
std::string CommandCase(const CLI::App& app) {
  std::vector<std::string> first, below;
  for (const NamedCommand& command : Commands(app)) {
    const bool is_below = command.path.find(' ') != std::string::npos;
    (is_below ? below : first)
        .push_back(fmt::format("\"{}{}\"", is_below ? "" : " ", command.path));
  }
  return fmt::format(
      "    case \"$command $word\" in\n      {}) command=\"$word\" ;;\n"
      "      {}) command=\"$command $word\" ;;\n    esac\n",
      fmt::join(first, "|"), fmt::join(below, "|"));
}

std::string FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const Flag& flag : FlagsOf(app)) names.push_back(flag.long_name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Patterns of all flags that take a value, to what completes it, each flag once. A short name means
// the global flag where a command has it for another.
std::map<std::string, Flag> ValueFlags(const CLI::App& app) {
  std::map<std::string, Flag> flags;
  std::set<std::string> short_names;
  const auto add = [&](const CLI::App& level) {
    for (Flag& flag : FlagsOf(level)) {
      if (!flag.takes_value) continue;
      if (!short_names.insert(flag.short_name).second) flag.short_name.clear();
      flags.emplace(flag.long_name, std::move(flag));
    }
  };
  add(app);
  for (const NamedCommand& command : Commands(app)) add(*command.app);
  return flags;
}

constexpr const char* kModelNames = "sinkctl models --names --timeout 1s 2>/dev/null";
constexpr const char* kRunNames = "sinkctl runs list --names --timeout 1s 2>/dev/null";
constexpr const char* kFamilyNames = "sinkctl families --names --timeout 1s 2>/dev/null";

// What completes a word of a command that is no flag.
std::string WordAction(const CLI::App& command) {
  const Positional positional = PositionalOf(command);
  const std::string below = Names(command);
  if (!below.empty()) return fmt::format("_sinkctl_words \"{}\"", below);
  if (positional.file) return "_sinkctl_files";
  if (positional.names != nullptr) {
    return fmt::format("_sinkctl_words \"$(_sinkctl_{})\"", positional.names);
  }
  if (positional.words.empty()) return ":";
  return fmt::format("_sinkctl_words \"{}\"", fmt::join(positional.words, " "));
}

// bash and zsh share one function body; only how they offer words differs.
std::string ShellCases(const CLI::App& app) {
  std::string text = "  case \"$prev\" in\n";
  for (const auto& [name, flag] : ValueFlags(app)) {
    const std::string pattern = flag.short_name.empty() ? name : name + "|" + flag.short_name;
    std::string action = "return";
    if (flag.takes_file) action = "_sinkctl_files; return";
    if (flag.takes_run) action = "_sinkctl_words \"$(_sinkctl_runs)\"; return";
    if (flag.takes_model) action = "_sinkctl_words \"$(_sinkctl_models)\"; return";
    if (!flag.words.empty()) {
      action = fmt::format("_sinkctl_words \"{}\"; return", fmt::join(flag.words, " "));
    }
    text += fmt::format("    {}) {} ;;\n", pattern, action);
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const NamedCommand& command : Commands(app)) {
    text += fmt::format(
        "    \"{}\")\n      if [[ \"$cur\" == -* ]]; then\n        _sinkctl_words \"{} {}\"\n"
        "      else\n        {}\n      fi ;;\n",
        command.path, FlagNames(*command.app), FlagNames(app), WordAction(*command.app));
  }
  text += fmt::format(
      "    *)\n      if [[ \"$cur\" == -* ]]; then\n        _sinkctl_words \"{}\"\n"
      "      else\n        _sinkctl_words \"{}\"\n      fi ;;\n  esac\n",
      FlagNames(app), Names(app));
  return text;
}

std::string Bash(const CLI::App& app) {
  return fmt::format(
      "# bash completion of sinkctl; source it, or put it where bash-completion looks.\n"
      "_sinkctl_models() {{ {0}; }}\n"
      "_sinkctl_families() {{ {3}; }}\n"
      "_sinkctl_runs() {{ {4}; }}\n"
      "_sinkctl_words() {{ COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }}\n"
      "_sinkctl_files() {{ compopt -o filenames 2>/dev/null; "
      "COMPREPLY=($(compgen -f -- \"$cur\")); }}\n"
      "_sinkctl() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"\" word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "{1}"
      "  done\n"
      "{2}}}\n"
      "complete -F _sinkctl sinkctl\n",
      kModelNames, CommandCase(app), ShellCases(app), kFamilyNames, kRunNames);
}

std::string Zsh(const CLI::App& app) {
  return fmt::format(
      "#compdef sinkctl\n"
      "# zsh completion of sinkctl; put it as _sinkctl into a folder of $fpath.\n"
      "_sinkctl_models() {{ {0}; }}\n"
      "_sinkctl_families() {{ {3}; }}\n"
      "_sinkctl_runs() {{ {4}; }}\n"
      "_sinkctl_words() {{ compadd -- ${{=1}}; }}\n"
      "_sinkctl_files() {{ _files; }}\n"
      "_sinkctl() {{\n"
      "  local cur=\"${{words[CURRENT]}}\" prev=\"${{words[CURRENT-1]}}\" command=\"\" word\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n"
      "{1}"
      "  done\n"
      "{2}}}\n"
      "if [ \"$funcstack[1]\" = \"_sinkctl\" ]; then\n"
      "  _sinkctl \"$@\"\n"
      "else\n"
      "  compdef _sinkctl sinkctl\n"
      "fi\n",
      kModelNames, CommandCase(app), ShellCases(app), kFamilyNames, kRunNames);
}

std::string FishQuote(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"'", "\\'"}, {"\\", "\\\\"}}) + "'";
}

std::string FishFlag(const Flag& flag, const std::string& condition) {
  std::string line = "complete -c sinkctl" + condition + " -l " + flag.long_name.substr(2);
  if (!flag.short_name.empty()) line += " -s " + flag.short_name.substr(1);
  if (flag.takes_file) {
    line += " -r -F";
  } else if (flag.takes_run) {
    line += " -x -a '(__sinkctl_runs)'";
  } else if (flag.takes_model) {
    line += " -x -a '(__sinkctl_models)'";
  } else if (flag.takes_value) {
    line += " -x";
    if (!flag.words.empty()) line += fmt::format(" -a '{}'", fmt::join(flag.words, " "));
  }
  return line + " -d " + FishQuote(flag.help) + "\n";
}

// Where a command's words are completed.
std::string FishCondition(const NamedCommand& command) {
  std::string seen;
  std::string rest = command.path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    seen += (seen.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
            rest.substr(0, end);
    rest.erase(0, end + 1);
  }
  const std::string below = Names(*command.app);
  if (!below.empty()) seen += "; and not __fish_seen_subcommand_from " + below;
  return " -n '" + seen + "'";
}

std::string FishWords(const NamedCommand& command, const std::string& condition) {
  std::string text;
  for (const CLI::App* below : command.app->get_subcommands({})) {
    text += fmt::format("complete -c sinkctl{} -a {} -d {}\n", condition, below->get_name(),
                        FishQuote(below->get_description()));
  }
  const Positional positional = PositionalOf(*command.app);
  if (positional.file) {
    text += fmt::format("complete -c sinkctl{} -F\n", condition);
  } else if (positional.names != nullptr) {
    text += fmt::format("complete -c sinkctl{} -a '(__sinkctl_{})'\n", condition, positional.names);
  }
  if (!positional.words.empty()) {
    text +=
        fmt::format("complete -c sinkctl{} -a '{}'\n", condition, fmt::join(positional.words, " "));
  }
  return text;
}

std::string Fish(const CLI::App& app) {
  std::string text = fmt::format(
      "# fish completion of sinkctl.\n"
      "function __sinkctl_models; {}; end\n"
      "function __sinkctl_families; {}; end\n"
      "function __sinkctl_runs; {}; end\n"
      "complete -c sinkctl -f\n",
      kModelNames, kFamilyNames, kRunNames);
  for (const Flag& flag : FlagsOf(app)) text += FishFlag(flag, "");
  for (const NamedCommand& command : Commands(app)) {
    if (command.path == command.app->get_name()) {
      text += fmt::format("complete -c sinkctl -n __fish_use_subcommand -a {} -d {}\n",
                          command.path, FishQuote(command.app->get_description()));
    }
    const std::string condition = FishCondition(command);
    text += FishWords(command, condition);
    for (const Flag& flag : FlagsOf(*command.app)) {
      if (flag.long_name != "--help") text += FishFlag(flag, condition);
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, const std::string& shell) {
  if (shell == "zsh") return Zsh(app);
  return shell == "fish" ? Fish(app) : Bash(app);
}

}  // namespace sinkd::cli
