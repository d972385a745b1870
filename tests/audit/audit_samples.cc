#include "audit_samples.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sinkd::testing {
namespace {

constexpr int32_t kBlocks = 30;

void AddCurves(v1::SampleRecord& record, int32_t weakest, double norm) {
  v1::CompensationCurves& curves = *record.mutable_compensation();
  for (int32_t l = 0; l < record.layers(); ++l) {
    const float dip = l == weakest ? 0.5F : 1.0F;
    curves.add_primary(0.5F * dip);
    curves.add_secondary(0.1F);
    curves.add_rest(0.4F);
    curves.add_primary_norm(static_cast<float>(norm) * dip);
  }
}

v1::SinkKind KindOf(const std::string& word) {
  if (word == "primary") return v1::SINK_KIND_PRIMARY;
  return word == "secondary" ? v1::SINK_KIND_SECONDARY : v1::SINK_KIND_NOISE;
}

v1::SampleRecord ReadSample(const nlohmann::json& json) {
  v1::SampleRecord record = MakeSample({}, json.at("positions"));
  record.set_sample_id(json.at("id"));
  record.mutable_primary()->set_score(json.at("primary_score"));
  record.mutable_primary()->set_state_norm(json.at("primary_norm"));
  record.mutable_outliers()->set_count(0);
  AddCurves(record, json.at("weakest"), record.primary().state_norm());
  for (const nlohmann::json& each : json.at("sinks")) {
    v1::Sink& sink = *record.add_sinks();
    sink.set_position(each.at("position"));
    sink.set_kind(KindOf(each.at("kind")));
    sink.set_l_start(each.at("level")[0]);
    sink.set_lifetime(each.at("level")[1]);
    for (const nlohmann::json& layer : each.at("layers")) sink.add_layers(layer);
    sink.set_mlp_norm(each.at("mlp_norm"));
    sink.set_score(each.at("score"));
  }
  return record;
}

}  // namespace

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string PolicyText(const std::string& name) {
  return ReadText(std::string(SINKD_SOURCE_DIR "/deploy/policies/") + name);
}

Policy ReadPolicyOrDie(const std::string& yaml) {
  absl::StatusOr<Policy> policy = ParsePolicy(yaml);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *policy : Policy();
}

v1::SampleRecord MakeSample(const std::vector<Level>& levels, int64_t positions) {
  v1::SampleRecord record;
  record.set_layers(kBlocks);
  record.set_positions(positions);
  record.set_window_start(4);
  record.set_window_end(kBlocks - 1);
  record.mutable_primary()->set_score(0.5);
  record.mutable_primary()->set_state_norm(2000);
  for (const Level& level : levels) {
    v1::Sink& sink = *record.add_sinks();
    sink.set_position(record.sinks_size());
    sink.set_kind(v1::SINK_KIND_SECONDARY);
    sink.set_l_start(level.l_start);
    sink.set_lifetime(level.lifetime);
    for (int32_t i = 0; i < level.lifetime; ++i) sink.add_layers(level.l_start + i);
    sink.set_mlp_norm(10);
    sink.set_score(0.1);
  }
  return record;
}

std::vector<v1::SampleRecord> PlantedSet(const std::string& name) {
  static const auto& content =
      *new nlohmann::json(nlohmann::json::parse(ReadText(SINKD_ORACLE_DIR "/audit/samples.json")));
  std::vector<v1::SampleRecord> records;
  for (const nlohmann::json& each : content.at("sets").at(name)) {
    records.push_back(ReadSample(each));
  }
  return records;
}

Evidence Gather(const std::vector<v1::SampleRecord>& records, uint64_t seed) {
  Evidence evidence(seed);
  for (const v1::SampleRecord& record : records) evidence.Add(record.sample_id(), record);
  return evidence;
}

AuditReport AuditOrDie(const Policy& policy, const Evidence& candidate, const Evidence* baseline,
                       uint64_t seed) {
  absl::StatusOr<AuditReport> report =
      Audit(policy, candidate, baseline, seed, [] { return false; });
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : AuditReport();
}

std::vector<std::string> NamesWith(const AuditReport& report, Verdict verdict) {
  std::vector<std::string> names;
  for (const RuleResult& rule : report.rules) {
    if (rule.verdict == verdict) names.push_back(rule.name);
  }
  return names;
}

}  // namespace sinkd::testing
