#include "audit_samples.h"

#include <fstream>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sinkd::testing {
namespace {

constexpr int32_t kBlocks = 30;

void AddCurves(SampleRecord& record, int32_t weakest, double norm) {
  CompensationCurves& curves = record.compensation.emplace();
  for (int32_t l = 0; l < record.layers; ++l) {
    const float dip = l == weakest ? 0.5F : 1.0F;
    curves.primary.push_back(0.5F * dip);
    curves.secondary.push_back(0.1F);
    curves.rest.push_back(0.4F);
    curves.primary_norm.push_back(static_cast<float>(norm) * dip);
  }
}

SinkKind KindOf(const std::string& word) {
  if (word == "primary") return SinkKind::kPrimary;
  return word == "secondary" ? SinkKind::kSecondary : SinkKind::kNoise;
}

SampleRecord ReadSample(const nlohmann::json& json) {
  SampleRecord record = MakeSample({}, json.at("positions"));
  record.sample_id = json.at("id");
  record.primary.score = json.at("primary_score").get<double>();
  record.primary.state_norm = json.at("primary_norm");
  record.outliers = OutlierTokens{.count = 1};  // as models have them; one of none has no ratio
  AddCurves(record, json.at("weakest"), record.primary.state_norm);
  for (const nlohmann::json& each : json.at("sinks")) {
    Sink& sink = record.sinks.emplace_back();
    sink.position = each.at("position");
    sink.kind = KindOf(each.at("kind"));
    sink.level = {.l_start = each.at("level")[0], .lifetime = each.at("level")[1]};
    sink.layers = each.at("layers").get<std::vector<int32_t>>();
    sink.mlp_norm = each.at("mlp_norm");
    sink.score = each.at("score").get<double>();
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

SampleRecord MakeSample(const std::vector<Level>& levels, int64_t positions) {
  SampleRecord record;
  record.layers = kBlocks;
  record.positions = positions;
  record.window_start = 4;
  record.window_end = kBlocks - 1;
  record.primary.score = 0.5;
  record.primary.state_norm = 2000;
  for (const Level& level : levels) {
    Sink& sink = record.sinks.emplace_back();
    sink.position = static_cast<int32_t>(record.sinks.size());
    sink.kind = SinkKind::kSecondary;
    sink.level = level;
    sink.layers.resize(static_cast<size_t>(level.lifetime));
    std::iota(sink.layers.begin(), sink.layers.end(), level.l_start);
    sink.mlp_norm = 10;
    sink.score = 0.1;
  }
  return record;
}

std::vector<SampleRecord> PlantedSet(const std::string& name) {
  static const auto& content =
      *new nlohmann::json(nlohmann::json::parse(ReadText(SINKD_ORACLE_DIR "/audit/samples.json")));
  std::vector<SampleRecord> records;
  for (const nlohmann::json& each : content.at("sets").at(name)) {
    records.push_back(ReadSample(each));
  }
  return records;
}

Evidence Gather(const std::vector<SampleRecord>& records, uint64_t seed) {
  Evidence evidence(seed);
  for (const SampleRecord& record : records) evidence.Add(record.sample_id, record);
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
