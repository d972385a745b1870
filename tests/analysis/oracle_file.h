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

#include "server/analysis/parameters.h"
#include "server/analysis/record_builder.h"
#include "server/analysis/records.h"

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

inline const char* NameOf(SinkKind kind) {
  static const char* const kNames[] = {"primary", "secondary", "noise"};
  return kNames[static_cast<size_t>(kind)];
}

inline double RelativeDifference(double a, double b) {
  const double scale = std::max(std::fabs(a), std::fabs(b));
  return a == b ? 0 : std::fabs(a - b) / scale;
}

inline AnalysisSpec SpecOf(const Json& json) {
  AnalysisSpec spec;
  const Json& detection = json["detection"];
  spec.detection.cosine_threshold = detection["cosine_threshold"];
  spec.detection.min_norm_ratio = detection["min_norm_ratio"];
  if (detection["kind_rule"] == "published") spec.detection.kind_rule = KindRule::kPublished;
  if (json["score_message"]) {
    const Json& scores = json["scores"];
    spec.scores = {.exclude_self = scores["exclude_self"], .curves = scores["curves"]};
    if (scores["divisor"] == "all") spec.scores->divisor = QueryDivisor::kAll;
  }
  const Json& rate = json["sink_rate"];
  spec.sink_rate = {rate["epsilon"], rate["positions"], rate["first_tokens"]};
  const Json& levels = json["levels"];
  spec.levels = {levels["min_share"], levels["top_tokens"], levels["include_primary_position"]};
  spec.regression = {.include_primary = json["regression"]["include_primary"], .points = true};
  spec.compensation = {json["compensation"]["bootstrap_samples"], json["compensation"]["seed"]};
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

inline absl::StatusOr<SampleRecord> RecordOf(const AnalysisSpec& spec, const Json& sample) {
  const Json& facts = sample["facts"];
  const auto ids = facts["token_ids"].get<std::vector<int32_t>>();
  return BuildRecord(
      spec,
      {.token_ids = ids, .chat_rendered = facts["chat_rendered"], .bfloat16 = facts["bfloat16"]},
      TraceOf(sample["trace"]), [](int32_t id) { return "token " + std::to_string(id); });
}

}  // namespace sinkd
