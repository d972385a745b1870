#include "client/cli/flags/flag_values.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include "client/error_report.h"
#include "server/base/nearest_word.h"

namespace sinkd::cli {
namespace {

template <typename Number>
std::optional<Number> Parse(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(const std::string& text) {
  const auto value = Parse<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> ParseInteger(const std::string& text, bool wide) {
  const auto value = Parse<int64_t>(text);
  if (!value) return std::nullopt;
  const bool narrow = *value >= std::numeric_limits<int32_t>::min() &&
                      *value <= std::numeric_limits<int32_t>::max();
  return wide || narrow ? value : std::nullopt;
}

std::string Words(std::span<const Choice> choices) {
  std::string words;
  for (const Choice& choice : choices)
    words += (words.empty() ? "" : ",") + std::string(choice.word);
  return words;
}

const Choice* FindChoice(std::span<const Choice> choices, const std::string& word) {
  for (const Choice& choice : choices) {
    if (word == choice.word) return &choice;
  }
  return nullptr;
}

std::string Quoted(const std::string& text) {
  return '"' + client::MakePrintable(text.substr(0, 60)) + '"';
}

std::string ChoiceProblem(std::span<const Choice> choices, const std::string& word) {
  if (FindChoice(choices, word) != nullptr) return "";
  std::vector<const char*> words;
  for (const Choice& choice : choices) words.push_back(choice.word);
  return fmt::format("{} is not one of {}{}", Quoted(word), Words(choices),
                     DidYouMean(word, words));
}

std::vector<std::string> WordsOf(const std::string& value, bool many) {
  if (!many) return {value};
  return absl::StrSplit(value, ',');
}

// `problem` says what is wrong with a word, or nothing; `take` gets each.
CLI::Option* AddValues(CLI::App& app, const std::string& name, const std::string& help,
                       const std::string& type_name, bool many,
                       std::function<std::string(const std::string&)> problem,
                       std::function<void(const std::string&)> take) {
  CLI::Option* option = nullptr;
  if (many) {
    option = app.add_option_function<std::vector<std::string>>(
        name,
        [take = std::move(take)](const std::vector<std::string>& values) {
          for (const std::string& value : values) {
            for (const std::string& word : WordsOf(value, true)) take(word);
          }
        },
        help);
    option->allow_extra_args(false);
  } else {
    option = app.add_option_function<std::string>(name, std::move(take), help);
  }
  return option->type_name(type_name)->check(
      [problem = std::move(problem), many](const std::string& value) {
        for (const std::string& word : WordsOf(value, many)) {
          if (std::string text = problem(word); !text.empty()) return text;
        }
        return std::string();
      });
}

}  // namespace

CLI::Option* AddNumber(CLI::App& app, const std::string& name, const std::string& help,
                       std::function<void(double)> set, bool many) {
  return AddValues(
      app, name, help, many ? "NUMBERS" : "NUMBER", many,
      [](const std::string& text) {
        return ParseNumber(text) ? "" : Quoted(text) + " is not a finite number";
      },
      [set = std::move(set)](const std::string& text) { set(*ParseNumber(text)); });
}

CLI::Option* AddInteger(CLI::App& app, const std::string& name, const std::string& help,
                        std::function<void(int64_t)> set, bool wide, bool many) {
  return AddValues(
      app, name, help, many ? "INTEGERS" : "INTEGER", many,
      [wide](const std::string& text) {
        return ParseInteger(text, wide) ? "" : Quoted(text) + " is not an integer in range";
      },
      [set = std::move(set), wide](const std::string& text) { set(*ParseInteger(text, wide)); });
}

CLI::Option* AddChoice(CLI::App& app, const std::string& name, std::span<const Choice> choices,
                       const std::string& help, std::function<void(int)> set, bool many) {
  return AddValues(
      app, name, help, "{" + Words(choices) + "}", many,
      [choices](const std::string& word) { return ChoiceProblem(choices, word); },
      [set = std::move(set), choices](const std::string& word) {
        set(FindChoice(choices, word)->value);
      });
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name, const std::string& help,
                         std::function<void(std::chrono::milliseconds)> set) {
  return AddValues(
      app, name, help, "DURATION", false,
      [](const std::string& text) {
        return ParseDuration(text) ? "" : Quoted(text) + " is not a duration; e.g. 500ms, 30s, 5m";
      },
      [set = std::move(set)](const std::string& text) { set(*ParseDuration(text)); });
}

std::optional<std::chrono::milliseconds> ParseDuration(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = ParseNumber(text.substr(0, digits));
  const std::string unit = text.substr(digits);
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1e3;
  if (unit == "ms") factor = 1;
  if (unit == "m") factor = 60e3;
  if (unit == "h") factor = 3600e3;
  constexpr double kLongest = 1e12;  // thirty years
  if (!value || factor == 0 || *value * factor < 1 || *value * factor > kLongest) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(static_cast<int64_t>(*value * factor));
}

}  // namespace sinkd::cli
