// What the oracles wrote, as JSON, and as the analyses' own types.
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/reflection.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/analysis/record_builder.h"
#include "server/analysis/records.h"
#include "tests/analysis/spec_text.h"

namespace sinkd {

using Json = nlohmann::json;

// The file `name` of the analysis oracles; null and a failure when it is not there.
inline Json ReadOracle(const std::string& name) {
  const std::string path = std::string(SINKD_ORACLE_DIR) + "/analysis/" + name;
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << "no oracle file " << path << "; run ctest, which writes it";
  return json;
}

inline const char* NameOf(v1::SinkKind kind) {
  static const char* const kNames[] = {"unspecified", "primary", "secondary", "noise"};
  return kNames[static_cast<size_t>(kind)];
}

// The matrices of HeadMeans or HeadReport that they share, by name; those without values are left
// out.
template <typename Value, typename Means>
std::map<std::string, std::vector<Value>> HeadMeansOf(const Means& means) {
  std::map<std::string, std::vector<Value>> all;
  for (int number = 1; number <= v1::HeadMeans::kRestValueFieldNumber; ++number) {
    const auto* field = Means::descriptor()->FindFieldByNumber(number);
    for (const Value value :
         means.GetReflection()->template GetRepeatedFieldRef<Value>(means, field)) {
      all[field->name()].push_back(value);
    }
  }
  return all;
}

inline double RelativeDifference(double a, double b) {
  const double scale = std::max(std::fabs(a), std::fabs(b));
  return a == b ? 0 : std::fabs(a - b) / scale;
}

inline v1::AnalysisSpec SpecOf(const Json& json) {
  v1::AnalysisSpec spec = SpecFrom("regression { points: true } heads {}");
  const Json& detection = json["detection"];
  spec.mutable_detection()->set_cosine_threshold(detection["cosine_threshold"]);
  spec.mutable_detection()->set_min_norm_ratio(detection["min_norm_ratio"]);
  if (detection["kind_rule"] == "published") {
    spec.mutable_detection()->set_kind_rule(v1::KIND_RULE_PUBLISHED);
  }
  if (json["score_message"]) {
    const Json& scores = json["scores"];
    spec.mutable_scores()->set_exclude_self(scores["exclude_self"]);
    spec.mutable_scores()->set_curves(scores["curves"]);
    if (scores["divisor"] == "all") spec.mutable_scores()->set_divisor(v1::QUERY_DIVISOR_ALL);
  }
  const Json& rate = json["sink_rate"];
  spec.mutable_sink_rate()->set_epsilon(rate["epsilon"]);
  spec.mutable_sink_rate()->set_positions(rate["positions"]);
  spec.mutable_sink_rate()->set_first_tokens(rate["first_tokens"]);
  const Json& levels = json["levels"];
  spec.mutable_levels()->set_min_share(levels["min_share"]);
  spec.mutable_levels()->set_top_tokens(levels["top_tokens"]);
  spec.mutable_levels()->set_include_primary_position(levels["include_primary_position"]);
  spec.mutable_regression()->set_include_primary(json["regression"]["include_primary"]);
  const Json& compensation = json["compensation"];
  spec.mutable_compensation()->set_bootstrap_samples(compensation["bootstrap_samples"]);
  spec.mutable_compensation()->set_seed(compensation["seed"]);
  spec.mutable_heads()->set_dormant_mass(json["heads"]["dormant_mass"]);
  spec.mutable_heads()->set_dormant_value_share(json["heads"]["dormant_value_share"]);
  FillAnalysisDefaults(spec);
  return spec;
}

inline Trace TraceOf(const Json& json) {
  Trace trace;
  trace.layers = json["layers"];
  trace.positions = json["positions"];
  trace.heads = json["heads"];
  trace.candidates = json["candidates"];
  trace.prefix = json["prefix"];
  trace.state_norm = json["state_norm"].get<std::vector<float>>();
  trace.candidate_cosine = json["candidate_cosine"].get<std::vector<float>>();
  trace.mlp_norm = json["mlp_norm"].get<std::vector<float>>();
  trace.attention_sum = json["attention_sum"].get<std::vector<float>>();
  trace.attention_self = json["attention_self"].get<std::vector<float>>();
  trace.prefix_attention_sum = json["prefix_attention_sum"].get<std::vector<float>>();
  trace.learned_sink_mass = json["learned_sink_mass"].get<std::vector<float>>();
  trace.row_entropy = json["row_entropy"].get<std::vector<float>>();
  trace.row_maximum = json["row_maximum"].get<std::vector<float>>();
  trace.previous_attention = json["previous_attention"].get<std::vector<float>>();
  trace.duplicate_attention = json["duplicate_attention"].get<std::vector<float>>();
  trace.value_norm = json["value_norm"].get<std::vector<float>>();
  return trace;
}

inline absl::StatusOr<v1::SampleRecord> RecordOf(const v1::AnalysisSpec& spec, const Json& sample) {
  const Json& facts = sample["facts"];
  const auto ids = facts["token_ids"].get<std::vector<int32_t>>();
  return BuildRecord(
      spec,
      {.token_ids = ids, .chat_rendered = facts["chat_rendered"], .bfloat16 = facts["bfloat16"]},
      TraceOf(sample["trace"]), [](int32_t id) { return "token " + std::to_string(id); });
}

}  // namespace sinkd
