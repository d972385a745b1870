#include "client/cli/completion.h"

#include <map>
#include <vector>

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
  std::vector<std::string> words;  // the values it takes, when they are few
};

std::vector<std::string> WordsOf(const std::string& type_name) {
  std::vector<std::string> words;
  if (!type_name.starts_with('{')) return words;
  std::string word;
  for (const char c : type_name.substr(1)) {
    if (c == ',' || c == '}') {
      words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  return words;
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
    flag.takes_model = flag.long_name == "--model";
    flag.words = WordsOf(option->get_type_name());
    flags.push_back(std::move(flag));
  }
  return flags;
}

// What a command takes without a flag: names that the server has, words, or nothing.
struct Positional {
  const char* names = nullptr;  // "models", "families"
  std::vector<std::string> words;
};

Positional PositionalOf(const CLI::App& app) {
  Positional positional;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    positional.words = WordsOf(option->get_type_name());
    if (!positional.words.empty()) continue;
    positional.names = option->get_name(true) == "FAMILY" ? "families" : "models";
  }
  return positional;
}

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands({});
}

std::string Names(const CLI::App& app, const char* separator) {
  std::vector<std::string> names;
  for (const CLI::App* command : Commands(app)) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, separator));
}

std::string FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const Flag& flag : FlagsOf(app)) names.push_back(flag.long_name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Patterns of all flags that take a value, to what completes it, each flag once.
std::map<std::string, Flag> ValueFlags(const CLI::App& app) {
  std::map<std::string, Flag> flags;
  const auto add = [&](const CLI::App& level) {
    for (const Flag& flag : FlagsOf(level)) {
      if (flag.takes_value) flags.emplace(flag.long_name, flag);
    }
  };
  add(app);
  for (const CLI::App* command : Commands(app)) add(*command);
  return flags;
}

constexpr const char* kModelNames = "sinkctl models --names --timeout 1s 2>/dev/null";
constexpr const char* kFamilyNames = "sinkctl families --names --timeout 1s 2>/dev/null";

// bash and zsh share one function body; only how they offer words differs.
std::string ShellCases(const CLI::App& app) {
  std::string text = "  case \"$prev\" in\n";
  for (const auto& [name, flag] : ValueFlags(app)) {
    const std::string pattern = flag.short_name.empty() ? name : name + "|" + flag.short_name;
    std::string action = "return";
    if (flag.takes_file) action = "_sinkctl_files; return";
    if (flag.takes_model) action = "_sinkctl_words \"$(_sinkctl_models)\"; return";
    if (!flag.words.empty()) {
      action = fmt::format("_sinkctl_words \"{}\"; return", fmt::join(flag.words, " "));
    }
    text += fmt::format("    {}) {} ;;\n", pattern, action);
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const CLI::App* command : Commands(app)) {
    const Positional positional = PositionalOf(*command);
    std::string action = ":";
    if (positional.names != nullptr) {
      action = fmt::format("_sinkctl_words \"$(_sinkctl_{})\"", positional.names);
    }
    if (!positional.words.empty()) {
      action = fmt::format("_sinkctl_words \"{}\"", fmt::join(positional.words, " "));
    }
    text += fmt::format(
        "    {})\n      if [[ \"$cur\" == -* ]]; then\n        _sinkctl_words \"{} {}\"\n"
        "      else\n        {}\n      fi ;;\n",
        command->get_name(), FlagNames(*command), FlagNames(app), action);
  }
  text += fmt::format(
      "    *)\n      if [[ \"$cur\" == -* ]]; then\n        _sinkctl_words \"{}\"\n"
      "      else\n        _sinkctl_words \"{}\"\n      fi ;;\n  esac\n",
      FlagNames(app), Names(app, " "));
  return text;
}

std::string Bash(const CLI::App& app) {
  return fmt::format(
      "# bash completion of sinkctl; source it, or put it where bash-completion looks.\n"
      "_sinkctl_models() {{ {0}; }}\n"
      "_sinkctl_families() {{ {3}; }}\n"
      "_sinkctl_words() {{ COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }}\n"
      "_sinkctl_files() {{ compopt -o filenames 2>/dev/null; "
      "COMPREPLY=($(compgen -f -- \"$cur\")); }}\n"
      "_sinkctl() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"\" word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$word\" in {1}) command=\"$word\"; break ;; esac\n"
      "  done\n"
      "{2}}}\n"
      "complete -F _sinkctl sinkctl\n",
      kModelNames, Names(app, "|"), ShellCases(app), kFamilyNames);
}

std::string Zsh(const CLI::App& app) {
  return fmt::format(
      "#compdef sinkctl\n"
      "# zsh completion of sinkctl; put it as _sinkctl into a folder of $fpath.\n"
      "_sinkctl_models() {{ {0}; }}\n"
      "_sinkctl_families() {{ {3}; }}\n"
      "_sinkctl_words() {{ compadd -- ${{=1}}; }}\n"
      "_sinkctl_files() {{ _files; }}\n"
      "_sinkctl() {{\n"
      "  local cur=\"${{words[CURRENT]}}\" prev=\"${{words[CURRENT-1]}}\" command=\"\" word\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n"
      "    case \"$word\" in {1}) command=\"$word\"; break ;; esac\n"
      "  done\n"
      "{2}}}\n"
      "if [ \"$funcstack[1]\" = \"_sinkctl\" ]; then\n"
      "  _sinkctl \"$@\"\n"
      "else\n"
      "  compdef _sinkctl sinkctl\n"
      "fi\n",
      kModelNames, Names(app, "|"), ShellCases(app), kFamilyNames);
}

std::string FishQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FishFlag(const Flag& flag, const std::string& condition) {
  std::string line = "complete -c sinkctl" + condition + " -l " + flag.long_name.substr(2);
  if (!flag.short_name.empty()) line += " -s " + flag.short_name.substr(1);
  if (flag.takes_file) {
    line += " -r -F";
  } else if (flag.takes_model) {
    line += " -x -a '(__sinkctl_models)'";
  } else if (flag.takes_value) {
    line += " -x";
    if (!flag.words.empty()) line += fmt::format(" -a '{}'", fmt::join(flag.words, " "));
  }
  return line + " -d " + FishQuote(flag.help) + "\n";
}

std::string Fish(const CLI::App& app) {
  std::string text = fmt::format(
      "# fish completion of sinkctl.\n"
      "function __sinkctl_models; {}; end\n"
      "function __sinkctl_families; {}; end\n"
      "complete -c sinkctl -f\n",
      kModelNames, kFamilyNames);
  for (const Flag& flag : FlagsOf(app)) text += FishFlag(flag, "");
  for (const CLI::App* command : Commands(app)) {
    text += fmt::format("complete -c sinkctl -n __fish_use_subcommand -a {} -d {}\n",
                        command->get_name(), FishQuote(command->get_description()));
    const std::string condition =
        fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name());
    const Positional positional = PositionalOf(*command);
    if (positional.names != nullptr) {
      text +=
          fmt::format("complete -c sinkctl{} -a '(__sinkctl_{})'\n", condition, positional.names);
    }
    if (!positional.words.empty()) {
      text += fmt::format("complete -c sinkctl{} -a '{}'\n", condition,
                          fmt::join(positional.words, " "));
    }
    for (const Flag& flag : FlagsOf(*command)) {
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
