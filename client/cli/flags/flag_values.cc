#include "client/cli/flags/flag_values.h"

#include <charconv>
#include <cmath>
#include <limits>

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

}  // namespace

CLI::Option* AddNumber(CLI::App& app, const std::string& name, const std::string& help,
                       std::function<void(double)> set) {
  return app
      .add_option_function<std::string>(
          name, [set = std::move(set)](const std::string& text) { set(*ParseNumber(text)); }, help)
      ->type_name("NUMBER")
      ->check([](const std::string& text) {
        return ParseNumber(text) ? "" : Quoted(text) + " is not a finite number";
      });
}

CLI::Option* AddInteger(CLI::App& app, const std::string& name, const std::string& help,
                        std::function<void(int64_t)> set, bool wide) {
  return app
      .add_option_function<std::string>(
          name,
          [set = std::move(set), wide](const std::string& text) { set(*ParseInteger(text, wide)); },
          help)
      ->type_name("INTEGER")
      ->check([wide](const std::string& text) {
        return ParseInteger(text, wide) ? "" : Quoted(text) + " is not an integer in range";
      });
}

CLI::Option* AddChoice(CLI::App& app, const std::string& name, std::span<const Choice> choices,
                       const std::string& help, std::function<void(int)> set) {
  return app
      .add_option_function<std::string>(
          name,
          [set = std::move(set), choices](const std::string& word) {
            set(FindChoice(choices, word)->value);
          },
          help)
      ->type_name("{" + Words(choices) + "}")
      ->check([choices](const std::string& word) { return ChoiceProblem(choices, word); });
}

namespace {

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A flag that takes words between commas, and may be given several times. `problem` says what is
// wrong with a word, or nothing.
CLI::Option* AddList(CLI::App& app, const std::string& name, const std::string& help,
                     std::function<std::string(const std::string&)> problem,
                     std::function<void(const std::string&)> add) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [add = std::move(add)](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              for (const std::string& word : Split(value)) add(word);
            }
          },
          help)
      ->allow_extra_args(false)
      ->check([problem = std::move(problem)](const std::string& value) {
        for (const std::string& word : Split(value)) {
          if (std::string text = problem(word); !text.empty()) return text;
        }
        return std::string();
      });
}

}  // namespace

CLI::Option* AddNumbers(CLI::App& app, const std::string& name, const std::string& help,
                        std::function<void(double)> add) {
  return AddList(
             app, name, help,
             [](const std::string& word) {
               return ParseNumber(word) ? "" : Quoted(word) + " is not a finite number";
             },
             [add = std::move(add)](const std::string& word) { add(*ParseNumber(word)); })
      ->type_name("NUMBERS");
}

CLI::Option* AddIntegers(CLI::App& app, const std::string& name, const std::string& help,
                         std::function<void(int32_t)> add) {
  return AddList(
             app, name, help,
             [](const std::string& word) {
               return ParseInteger(word, false) ? "" : Quoted(word) + " is not an integer in range";
             },
             [add = std::move(add)](const std::string& word) {
               add(static_cast<int32_t>(*ParseInteger(word, false)));
             })
      ->type_name("INTEGERS");
}

CLI::Option* AddChoices(CLI::App& app, const std::string& name, std::span<const Choice> choices,
                        const std::string& help, std::function<void(int)> add) {
  return AddList(
             app, name, help,
             [choices](const std::string& word) { return ChoiceProblem(choices, word); },
             [add = std::move(add), choices](const std::string& word) {
               add(FindChoice(choices, word)->value);
             })
      ->type_name("{" + Words(choices) + "}");
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name, const std::string& help,
                         std::function<void(std::chrono::milliseconds)> set) {
  return app
      .add_option_function<std::string>(
          name, [set = std::move(set)](const std::string& text) { set(*ParseDuration(text)); },
          help)
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        return ParseDuration(text) ? "" : Quoted(text) + " is no duration; e.g. 500ms, 30s, 5m";
      });
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
