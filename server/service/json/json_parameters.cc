#include "server/service/json/json_parameters.h"

#include <algorithm>
#include <utility>

#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/time/time.h>
#include <google/protobuf/util/time_util.h>

#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/models/codec_model.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::string_view kLabelPrefix = "label.";

absl::Status Invalid(std::string_view name, std::string_view value, std::string_view is_not,
                     std::string_view fix) {
  return InvalidArgument(StrCat(name, " is not ", is_not), {.reason = "INVALID_PARAMETER",
                                                            .subject = std::string(name),
                                                            .value = Shorten(value),
                                                            .fix = std::string(fix)});
}

absl::Status Unknown(std::string_view name, std::span<const ParameterRule> rules) {
  const std::string known =
      absl::StrJoin(rules, ", ", [](std::string* out, const ParameterRule& rule) {
        *out += StrCat(rule.name, rule.type == ParameterType::kLabels ? "KEY" : "");
      });
  std::vector<std::string_view> names;
  for (const ParameterRule& rule : rules) names.emplace_back(rule.name);
  return InvalidArgument("the query has a parameter that is none of this path",
                         {.reason = "UNKNOWN_PARAMETER",
                          .subject = Shorten(name),
                          .fix = rules.empty() ? "leave it out: this path takes none"
                                               : StrCat("leave it out, or use one of ", known,
                                                        DidYouMean(name, names))});
}

std::optional<int64_t> ReadNumber(const std::string& text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  int64_t number = 0;
  if (!digits || !absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

std::optional<google::protobuf::Timestamp> ReadTime(const std::string& text) {
  // absl takes blanks around a time, and years of any length.
  constexpr size_t kTimeOfDay = 10;
  absl::Time time;
  std::string error;
  if (text.size() <= kTimeOfDay || text[4] != '-' || (text[kTimeOfDay] | 0x20) != 't' ||
      !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return std::nullopt;
  }
  const int64_t seconds = absl::ToUnixSeconds(time);
  if (seconds < TimeUtil::kTimestampMinSeconds || seconds > TimeUtil::kTimestampMaxSeconds) {
    return std::nullopt;
  }
  google::protobuf::Timestamp out;
  out.set_seconds(seconds);
  out.set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
  return out;
}

absl::Status CheckNumber(const ParameterRule& rule, const std::string& value) {
  const std::optional<int64_t> number = ReadNumber(value);
  if (number && *number >= rule.least && *number <= rule.most) return absl::OkStatus();
  return Invalid(rule.name, value, StrCat("a whole number from ", rule.least, " to ", rule.most),
                 "write its decimal digits");
}

absl::Status CheckWord(const ParameterRule& rule, const std::string& value) {
  const auto& choices = rule.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return absl::OkStatus();
  }
  const std::string all =
      absl::StrJoin(choices, ", ", [](std::string* out, std::string_view each) { *out += each; });
  return Invalid(rule.name, value, "one of the words it may be", StrCat("write one of ", all));
}

absl::Status CheckValue(const ParameterRule& rule, const std::string& name,
                        const std::string& value) {
  switch (rule.type) {
    case ParameterType::kText:
      return CheckWord(rule, value);
    case ParameterType::kNumber:
      return CheckNumber(rule, value);
    case ParameterType::kTime:
      if (ReadTime(value)) return absl::OkStatus();
      return Invalid(rule.name, value, "a time from year 1 to 9999",
                     "write it as RFC 3339 has it, 2026-01-31T12:00:00Z");
    case ParameterType::kModel:
      return DecodeModelName(value, std::string(rule.name)).status();
    case ParameterType::kRun:
      if (IsRunId(value)) return absl::OkStatus();
      return Invalid(rule.name, value, "the id of a run", "write it without runs/");
    case ParameterType::kLabels:
      return CheckLabels({{name.substr(kLabelPrefix.size()), value}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JsonParameters> JsonParameters::Read(const HttpQuery& query,
                                                    std::span<const ParameterRule> rules) {
  JsonParameters out;
  for (const auto& [name, value] : query.parameters) {
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ParameterRule& each) {
      return each.type == ParameterType::kLabels ? name.starts_with(each.name) : name == each.name;
    });
    if (rule == rules.end()) return Unknown(name, rules);
    if (rule->type != ParameterType::kRun && out.values_.contains(name)) {
      return InvalidArgument(
          StrCat(Shorten(name), " is given more than once"),
          {.reason = "REPEATED_PARAMETER", .subject = Shorten(name), .fix = "give it once"});
    }
    SINKD_RETURN_IF_ERROR(CheckValue(*rule, name, value));
    out.values_.emplace(name, value);
  }
  return out;
}

std::optional<std::string> JsonParameters::Text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<int64_t> JsonParameters::Number(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : ReadNumber(found->second);
}

std::optional<google::protobuf::Timestamp> JsonParameters::Time(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : ReadTime(found->second);
}

std::vector<std::string> JsonParameters::All(std::string_view name) const {
  std::vector<std::string> all;
  const auto [begin, end] = values_.equal_range(name);
  std::transform(begin, end, std::back_inserter(all), [](const auto& item) { return item.second; });
  return all;
}

std::map<std::string, std::string> JsonParameters::Labels() const {
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : values_) {
    if (name.starts_with(kLabelPrefix)) labels.emplace(name.substr(kLabelPrefix.size()), value);
  }
  return labels;
}

}  // namespace sinkd
