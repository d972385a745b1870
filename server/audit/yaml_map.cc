#include "server/audit/yaml_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/utf8.h"

namespace sinkd {
namespace {

// What other readers of YAML may take for something that is no text.
constexpr std::array<std::string_view, 13> kNoText = {
    "null", "Null", "NULL", "~", "yes", "no", "on", "off", "true", "false", "True", "False", ""};

bool IsPlain(const YAML::Node& node) {
  return node.IsScalar() && node.Tag() != "!";
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> FiniteNumber(const YAML::Node& node) {
  if (!IsPlain(node)) return std::nullopt;
  const std::optional<double> number = ParseNumber<double>(node.Scalar());
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return number;
}

bool IsText(const YAML::Node& node) {
  if (!node.IsScalar()) return false;
  if (!IsPlain(node)) return true;
  return !FiniteNumber(node) &&
         std::find(kNoText.begin(), kNoText.end(), node.Scalar()) == kNoText.end();
}

std::string Show(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  return IsPlain(node) ? Shorten(node.Scalar()) : StrCat("\"", Shorten(node.Scalar()), "\"");
}

// Of a value that must be written without quotes.
std::string_view Unquoted(const YAML::Node& node, std::string_view otherwise) {
  return node.IsScalar() && !IsPlain(node) ? "remove the quotes" : otherwise;
}

std::string Choices(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += StrCat(text.empty() ? "" : ", ", word);
  return text;
}

std::string WayOut(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestWord(word, known);
  if (!nearest.empty()) return StrCat("write \"", nearest, "\"");
  return StrCat("choose one of ", Choices(known));
}

}  // namespace

absl::Status PolicyError(const YAML::Mark& mark, std::string_view path, std::string_view value,
                         std::string_view what, std::string_view fix) {
  const std::string where =
      mark.is_null() ? "policy"
                     : StrCat("policy line ", mark.line + 1, ", column ", mark.column + 1);
  const std::string field = path.empty() ? "" : StrCat(path, " ");
  return InvalidArgument(StrCat(where, ": ", field, what), {.reason = "BAD_POLICY",
                                                            .subject = std::string(path),
                                                            .value = Shorten(value),
                                                            .fix = std::string(fix)});
}

absl::StatusOr<YamlMap> YamlMap::Open(const YAML::Node& node, std::string path,
                                      std::span<const std::string_view> known) {
  if (!node.IsMap()) {
    return PolicyError(node.Mark(), path.empty() ? "policy" : path, Show(node), "must be a mapping",
                       "write `name: value` lines");
  }
  YamlMap map(std::move(path), node.Mark());
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : Show(entry.first);
    const std::string field = map.PathOf(Shorten(key));
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return PolicyError(entry.first.Mark(), field, key, "is not a field here", WayOut(key, known));
    }
    if (!map.values_.emplace(key, entry.second).second) {
      return PolicyError(entry.first.Mark(), field, key, "is there twice", "remove one of them");
    }
  }
  return map;
}

YAML::Node YamlMap::Value(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? YAML::Node(YAML::NodeType::Undefined) : found->second;
}

std::string YamlMap::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : StrCat(path_, ".", key);
}

absl::Status YamlMap::Bad(std::string_view key, std::string_view what, std::string_view fix) const {
  const YAML::Node node = Value(key);
  return PolicyError(node.IsDefined() ? node.Mark() : mark_, PathOf(key),
                     node.IsDefined() ? Show(node) : "", what, fix);
}

absl::StatusOr<std::optional<std::string>> YamlMap::Text(std::string_view key,
                                                         size_t most_bytes) const {
  if (!Has(key)) return std::optional<std::string>();
  const YAML::Node node = Value(key);
  if (!IsText(node)) return Bad(key, "must be text", "put it between quotes");
  const std::string text = node.Scalar();
  const bool printable = std::none_of(text.begin(), text.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.empty() || text.size() > most_bytes || FirstInvalidUtf8(text) || !printable) {
    return Bad(key, StrCat("must have 1 to ", most_bytes, " bytes, without control characters"),
               "choose another text");
  }
  return std::optional(text);
}

absl::StatusOr<std::optional<double>> YamlMap::Number(std::string_view key, double least,
                                                      double most) const {
  if (!Has(key)) return std::optional<double>();
  const std::string what = StrCat("must be a number from ", least, " to ", most);
  const std::optional<double> number = FiniteNumber(Value(key));
  if (!number) return Bad(key, what, Unquoted(Value(key), "write a plain number, such as 0.05"));
  if (*number < least || *number > most) return Bad(key, what, "choose a number in the range");
  return number;
}

absl::StatusOr<std::optional<int64_t>> YamlMap::Integer(std::string_view key, int64_t least,
                                                        int64_t most) const {
  if (!Has(key)) return std::optional<int64_t>();
  const YAML::Node node = Value(key);
  const std::optional<int64_t> number =
      IsPlain(node) ? ParseNumber<int64_t>(node.Scalar()) : std::nullopt;
  if (!number || *number < least || *number > most) {
    return Bad(key, StrCat("must be a whole number from ", least, " to ", most),
               Unquoted(node, "choose a whole number in the range"));
  }
  return number;
}

absl::StatusOr<std::optional<bool>> YamlMap::Flag(std::string_view key) const {
  if (!Has(key)) return std::optional<bool>();
  const YAML::Node node = Value(key);
  if (IsPlain(node) && node.Scalar() == "true") return std::optional(true);
  if (IsPlain(node) && node.Scalar() == "false") return std::optional(false);
  return Bad(key, "must be true or false", Unquoted(node, "write true or false"));
}

absl::StatusOr<std::optional<size_t>> YamlMap::Word(std::string_view key,
                                                    std::span<const std::string_view> words) const {
  if (!Has(key)) return std::optional<size_t>();
  const YAML::Node node = Value(key);
  const std::string word = node.IsScalar() ? node.Scalar() : "";
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return Bad(key, "is unknown", WayOut(word, words));
  return std::optional(static_cast<size_t>(found - words.begin()));
}

absl::StatusOr<std::vector<YAML::Node>> YamlMap::List(std::string_view key, size_t most) const {
  const YAML::Node node = Value(key);
  if (!node.IsDefined() || !node.IsSequence() || node.size() == 0 || node.size() > most) {
    return Bad(key, StrCat("must be a list of 1 to ", most), "write one `- ` entry a rule");
  }
  return std::vector<YAML::Node>(node.begin(), node.end());
}

}  // namespace sinkd
