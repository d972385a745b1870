#include "server/service/runs/common_spec.h"

#include <map>
#include <optional>
#include <set>

#include <absl/strings/str_cat.h>
#include <google/protobuf/text_format.h>

#include "server/analysis/catalog.h"
#include "server/analysis/parameter_rules.h"

namespace sinkd {
namespace {

using Values = std::map<std::string, std::string>;  // by path

constexpr char kAskedFor[] = "asked for";
constexpr char kNotAskedFor[] = "not asked for";

void AddValues(const google::protobuf::Message& message, const std::string& prefix,
               Values& values) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    const std::string path = prefix + field->name();
    std::string& value = values[path];
    if (field->message_type() != nullptr) {
      value = kAskedFor;
      AddValues(reflection.GetMessage(message, field), path + ".", values);
    } else {
      google::protobuf::TextFormat::PrintFieldValueToString(message, field, -1, &value);
    }
  }
}

Values ValuesOf(const RunMaking& run) {
  v1::AnalysisSpec spec = run.spec;
  if (spec.has_scores()) {  // these add numbers to records, and change no summary
    spec.mutable_scores()->clear_curves();
    spec.mutable_scores()->clear_all_positions();
  }
  Values values;
  AddValues(spec, "", values);
  values["model"] = run.model;
  return values;
}

// The value at `path`; nullopt for a parameter of an analysis that the run did not ask for.
std::optional<std::string> ValueAt(const Values& values, const std::string& path) {
  if (const auto found = values.find(path); found != values.end()) return found->second;
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return kNotAskedFor;
  if (values.find(path.substr(0, dot)) == values.end()) return std::nullopt;
  return "";
}

}  // namespace

v1::ScoreParameters AlphaOf(const v1::AnalysisSpec& spec) {
  v1::ScoreParameters parameters = spec.scores();
  FillDefaults(parameters);
  parameters.clear_curves();
  parameters.clear_all_positions();
  return parameters;
}

v1::AnalysisSpec CommonSpec(const v1::AnalysisSpec& a, const v1::AnalysisSpec& b) {
  v1::AnalysisSpec common = a;
  const bool same_sinks = Equal(a.detection(), b.detection());
  const bool same_alpha = Equal(AlphaOf(a), AlphaOf(b));
  for (const AnalysisEntry& analysis : Analyses()) {
    if (!analysis.accumulate || !Requested(analysis, a)) continue;
    const bool kept = Requested(analysis, b) && (same_sinks || !analysis.of_sinks) &&
                      (same_alpha || !analysis.needs_attention) &&
                      (!analysis.parameters_in_record ||
                       Equal(ParametersOf(analysis, a), ParametersOf(analysis, b)));
    if (!kept) Drop(analysis, common);
  }
  return common;
}

std::vector<v1::SpecDifference> SpecDifferences(std::span<const RunMaking> runs) {
  std::vector<Values> all;
  std::set<std::string> paths;
  for (const RunMaking& run : runs) {
    for (const auto& [path, value] : all.emplace_back(ValuesOf(run))) paths.insert(path);
  }
  std::vector<v1::SpecDifference> differences;
  for (const std::string& path : paths) {
    std::map<std::string, v1::SpecValue> values;
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::optional<std::string> text = ValueAt(all[i], path);
      if (!text) continue;
      v1::SpecValue& value = values[*text];
      if (!value.has_run()) value.set_run(runs[i].run);
      value.set_value(*text);
      value.set_run_count(value.run_count() + 1);
    }
    if (values.size() < 2) continue;
    v1::SpecDifference& difference = differences.emplace_back();
    difference.set_field(path);
    for (auto& [text, value] : values) *difference.add_values() = std::move(value);
  }
  return differences;
}

}  // namespace sinkd
