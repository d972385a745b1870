// What the oracles wrote, as JSON, and as the analyses' own types.
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

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

inline double RelativeDifference(double a, double b) {
  const double scale = std::max(std::fabs(a), std::fabs(b));
  return a == b ? 0 : std::fabs(a - b) / scale;
}

inline v1::AnalysisSpec SpecOf(const Json& json) {
  v1::AnalysisSpec spec = SpecFrom("regression { points: true }");
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
