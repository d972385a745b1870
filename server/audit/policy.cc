#include "server/audit/policy.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "server/audit/measures.h"
#include "server/audit/yaml_document.h"
#include "server/audit/yaml_map.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Words = std::span<const std::string_view>;

constexpr size_t kLongestName = 120;
constexpr double kLargest = 1e15;
constexpr int64_t kMostNeeded = 1'000'000'000;
constexpr std::array<std::string_view, 4> kPolicyFields = {"name", "alpha", "draws", "rules"};
constexpr std::array<std::string_view, 11> kRuleFields = {
    "name",        "measure",   "of",        "at_least", "at_most", "test",
    "min_samples", "min_sinks", "min_share", "y",        "form"};
constexpr std::array<std::string_view, 3> kQuantities = {"value", "difference", "ratio"};
constexpr std::array<std::string_view, 2> kResponses = {"score", "lifetime"};
constexpr std::array<std::string_view, 4> kForms = {"linear-log", "log-linear", "log-log",
                                                    "linear"};

// Puts what is there in the place of the default.
template <typename Found, typename Value>
absl::Status Take(absl::StatusOr<std::optional<Found>> found, Value& value) {
  if (!found.ok()) return found.status();
  if (*found) value = **std::move(found);
  return absl::OkStatus();
}

absl::Status CheckFits(const YamlMap& map, std::string_view field, bool fits,
                       const Measure& measure, std::string_view whose) {
  if (fits || !map.Has(field)) return absl::OkStatus();
  return map.Bad(field, StrCat("means nothing for ", measure.name),
                 StrCat("remove it; it belongs to ", whose));
}

absl::Status ReadMeasure(const YamlMap& map, Rule& rule) {
  if (!map.Has("measure")) {
    return map.Bad("measure", "is missing", "add `measure:` and what to measure");
  }
  SINKD_ASSIGN_OR_RETURN(const std::optional<size_t> index, map.Word("measure", MeasureNames()));
  rule.measure = &Measures()[*index];
  const Measure& measure = *rule.measure;
  SINKD_RETURN_IF_ERROR(
      CheckFits(map, "of", !measure.of_two(), measure, "measures that one set has"));
  SINKD_RETURN_IF_ERROR(CheckFits(map, "min_sinks", measure.basis == Basis::kSinks, measure,
                                  "measures of secondary sinks"));
  SINKD_RETURN_IF_ERROR(
      CheckFits(map, "min_share", measure.has_share, measure, "new_levels and lost_levels"));
  SINKD_RETURN_IF_ERROR(CheckFits(map, "test", !measure.of_pairs, measure,
                                  "measures that do not compare sample by sample"));
  for (const std::string_view field : {"y", "form"}) {
    SINKD_RETURN_IF_ERROR(
        CheckFits(map, field, measure.has_regression, measure, "the regression's measures"));
  }
  return absl::OkStatus();
}

absl::Status ReadLimits(const YamlMap& map, Rule& rule) {
  size_t quantity = 0;
  SINKD_RETURN_IF_ERROR(Take(map.Word("of", kQuantities), quantity));
  rule.of = static_cast<Quantity>(quantity);
  SINKD_RETURN_IF_ERROR(Take(map.Number("at_least", -kLargest, kLargest), rule.at_least));
  SINKD_RETURN_IF_ERROR(Take(map.Number("at_most", -kLargest, kLargest), rule.at_most));
  SINKD_RETURN_IF_ERROR(Take(map.Flag("test"), rule.test));
  if (!rule.at_least && !rule.at_most && !rule.test) {
    return map.Bad("measure", "has no limit", "add at_least, at_most or test: true");
  }
  if (rule.at_least && rule.at_most && *rule.at_least > *rule.at_most) {
    return map.Bad("at_least", "is over at_most", "exchange the two, or change one");
  }
  if (map.Has("of") && !rule.at_least && !rule.at_most) {
    return map.Bad("of", "says what limits are about, and there are none",
                   "add at_least or at_most, or remove `of`");
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(const YamlMap& map, Rule& rule) {
  SINKD_RETURN_IF_ERROR(Take(map.Integer("min_samples", 1, kMostNeeded), rule.min_samples));
  SINKD_RETURN_IF_ERROR(Take(map.Integer("min_sinks", 1, kMostNeeded), rule.min_sinks));
  SINKD_RETURN_IF_ERROR(Take(map.Number("min_share", 0, 1), rule.options.min_share));
  size_t response = 0;
  SINKD_RETURN_IF_ERROR(Take(map.Word("y", kResponses), response));
  rule.options.lifetime = response == 1;
  size_t form = 0;
  SINKD_RETURN_IF_ERROR(Take(map.Word("form", kForms), form));
  rule.options.form = static_cast<v1::RegressionForm>(form + v1::REGRESSION_FORM_LINEAR_LOG);
  return absl::OkStatus();
}

absl::StatusOr<Rule> ReadRule(const YamlMap& map) {
  Rule rule;
  SINKD_RETURN_IF_ERROR(ReadMeasure(map, rule));
  rule.name = rule.measure->name;
  SINKD_RETURN_IF_ERROR(Take(map.Text("name", kLongestName), rule.name));
  SINKD_RETURN_IF_ERROR(ReadLimits(map, rule));
  SINKD_RETURN_IF_ERROR(ReadOptions(map, rule));
  return rule;
}

absl::Status ReadRules(const YamlMap& map, Policy& policy) {
  if (!map.Has("rules")) return map.Bad("rules", "is missing", "add `rules:` and a list of them");
  SINKD_ASSIGN_OR_RETURN(const std::vector<YAML::Node> nodes, map.List("rules", kMaxRules));
  std::set<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    SINKD_ASSIGN_OR_RETURN(const YamlMap fields,
                           YamlMap::Open(nodes[i], StrCat("rules[", i, "]"), kRuleFields));
    SINKD_ASSIGN_OR_RETURN(Rule rule, ReadRule(fields));
    if (!names.insert(rule.name).second) {
      return PolicyError(fields.mark(), fields.PathOf("name"), rule.name,
                         "is the name of an earlier rule too", "give each rule its own name");
    }
    policy.rules.push_back(std::move(rule));
  }
  return absl::OkStatus();
}

// The least p of n draws is 1 / (n + 1), which Holm multiplies by the number of tests.
absl::Status CheckDraws(const YamlMap& map, const Policy& policy) {
  const auto tests = std::count_if(policy.rules.begin(), policy.rules.end(),
                                   [](const Rule& rule) { return rule.test; });
  const double needed = static_cast<double>(tests) / policy.alpha;
  if (static_cast<double>(policy.draws) >= needed) return absl::OkStatus();
  return map.Bad("draws",
                 StrCat("are too few: ", tests, " tests at alpha ", policy.alpha, " need at least ",
                        std::ceil(needed), " draws"),
                 "raise draws or alpha, or test less");
}

absl::StatusOr<Policy> ReadPolicy(const YAML::Node& document) {
  SINKD_ASSIGN_OR_RETURN(const YamlMap map, YamlMap::Open(document, "", kPolicyFields));
  Policy policy;
  if (!map.Has("name")) return map.Bad("name", "is missing", "add `name:` and a name");
  SINKD_RETURN_IF_ERROR(Take(map.Text("name", kLongestName), policy.name));
  SINKD_RETURN_IF_ERROR(Take(map.Number("alpha", 1e-6, 0.5), policy.alpha));
  SINKD_RETURN_IF_ERROR(Take(map.Integer("draws", 99, 100'000), policy.draws));
  SINKD_RETURN_IF_ERROR(ReadRules(map, policy));
  SINKD_RETURN_IF_ERROR(CheckDraws(map, policy));
  return policy;
}

}  // namespace

absl::StatusOr<Policy> ParsePolicy(std::string_view yaml) {
  if (yaml.size() > kMaxPolicyBytes) {
    return PolicyError(YAML::Mark::null_mark(), "", StrCat(yaml.size(), " bytes"),
                       StrCat("is longer than ", kMaxPolicyBytes, " bytes"), "shorten it");
  }
  // yaml-cpp reports by throwing; nothing of it leaves this function.
  try {
    SINKD_ASSIGN_OR_RETURN(const YAML::Node document, ReadYamlDocument(std::string(yaml)));
    return ReadPolicy(document);
  } catch (const YAML::Exception& error) {
    return PolicyError(error.mark, "", "", StrCat("is not valid YAML: ", error.msg),
                       "mend the line; YAML indents with blanks");
  }
}

}  // namespace sinkd
