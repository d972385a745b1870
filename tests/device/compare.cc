#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/analysis/record_builder.h"
#include "tests/device/checked_model.h"
#include "tests/device/checks.h"

namespace sinkd::device_check {
namespace {

using Json = nlohmann::json;

// Largest difference in float32, and mean difference in bfloat16: there a row may take another way
// (an expert, a product in float32), and only it.
constexpr double kFloat32Limit = 5e-5;
constexpr double kBfloat16Limit = 5e-3;
constexpr int64_t kLengths[] = {1, 7, 64, 500};
constexpr const char* kKinds[] = {"primary", "secondary", "noise"};

struct CheckedSample {
  TokenIds ids;
  bool chat_rendered = false;
  Json planted;  // a line of records.jsonl, or null
};

struct Difference {
  double largest = 0;
  double sum = 0;
  int64_t count = 0;

  void Add(double difference) {
    // Not a maximum by <, which a NaN would pass.
    if (!(difference <= largest)) largest = difference;
    sum += difference;
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

struct Differences {
  Difference norm;    // of states and MLP outputs, relative
  Difference cosine;  // with the candidates
  Difference alpha;
  int records_alike = 0;
  int records = 0;
  bool planted_came_back = true;
};

std::vector<CheckedSample> SamplesOf(const std::filesystem::path& folder, const DecoderSpec& spec) {
  std::vector<CheckedSample> samples;
  std::ifstream records(folder / "records.jsonl");
  for (std::string line; std::getline(records, line);) {
    Json planted = Json::parse(line);
    auto ids = planted["token_ids"].get<TokenIds>();
    samples.push_back({std::move(ids), planted["chat_rendered"].get<bool>(), std::move(planted)});
  }
  if (!samples.empty()) return samples;
  for (const int64_t length : kLengths) {
    samples.push_back({.ids = RandomIds(spec, std::min(length, spec.max_positions))});
  }
  return samples;
}

void AddTraces(const Trace& got, const Trace& want, Differences& differences) {
  const auto relative = [&](const std::vector<float>& a, const std::vector<float>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      differences.norm.Add(std::abs(a[i] - b[i]) / std::max(std::abs(b[i]), 1e-6F));
    }
  };
  relative(got.state_norm, want.state_norm);
  relative(got.mlp_norm, want.mlp_norm);
  for (size_t i = 0; i < got.candidate_cosine.size(); ++i) {
    differences.cosine.Add(std::abs(got.candidate_cosine[i] - want.candidate_cosine[i]));
  }
  for (size_t i = 0; i < got.attention_sum.size(); ++i) {
    const auto queries = got.positions - static_cast<int64_t>(i) % got.positions;
    differences.alpha.Add(std::abs(got.attention_sum[i] - want.attention_sum[i]) /
                          static_cast<double>(queries));
  }
}

bool Alike(const SampleRecord& a, const SampleRecord& b) {
  return a.primary.position == b.primary.position && a.window_start == b.window_start &&
         a.window_end == b.window_end &&
         std::equal(a.sinks.begin(), a.sinks.end(), b.sinks.begin(), b.sinks.end(),
                    [](const Sink& x, const Sink& y) {
                      return x.position == y.position && x.kind == y.kind && x.layers == y.layers;
                    });
}

bool IsPlanted(const SampleRecord& got, const Json& want) {
  if (got.primary.position != want["primary"]["position"].get<int32_t>()) return false;
  const Json& sinks = want["sinks"];
  if (got.sinks.size() != sinks.size()) return false;
  for (size_t i = 0; i < sinks.size(); ++i) {
    if (got.sinks[i].position != sinks[i]["position"].get<int32_t>() ||
        got.sinks[i].layers != sinks[i]["layers"].get<std::vector<int32_t>>() ||
        kKinds[static_cast<int>(got.sinks[i].kind)] != sinks[i]["kind"].get<std::string>()) {
      return false;
    }
  }
  return true;
}

// False, saying why, when one of them fails.
bool AddSample(const Model& model, const Model& reference, const CheckedSample& sample,
               Differences& differences) {
  AnalysisSpec spec;
  spec.scores.emplace();
  const auto got = model.Run({&sample.ids, 1}, RequiredTrace(spec));
  const auto want = reference.Run({&sample.ids, 1}, RequiredTrace(spec));
  if (!got.ok() || !want.ok()) {
    std::fprintf(stderr, "%s / %s\n", got.status().ToString().c_str(),
                 want.status().ToString().c_str());
    return false;
  }
  AddTraces(got->front(), want->front(), differences);
  const SampleFacts facts{.token_ids = sample.ids,
                          .prompt_tokens = static_cast<int64_t>(sample.ids.size()),
                          .chat_rendered = sample.chat_rendered};
  const auto record = BuildRecord(spec, facts, got->front(), {});
  const auto reference_record = BuildRecord(spec, facts, want->front(), {});
  if (!record.ok() || !reference_record.ok()) return record.status() == reference_record.status();
  ++differences.records;
  if (Alike(*record, *reference_record)) ++differences.records_alike;
  if (!sample.planted.is_null() && !IsPlanted(*record, sample.planted)) {
    differences.planted_came_back = false;
  }
  return true;
}

bool CompareFolder(const std::string& device, const std::filesystem::path& folder,
                   ComputeType type) {
  const auto reference = LoadOrExit(folder, "cpu", type);
  const auto model = LoadOrExit(folder, device, type);
  Differences found;
  bool ok = true;
  bool planted = false;
  for (const CheckedSample& sample : SamplesOf(folder, model->info().spec)) {
    planted = planted || !sample.planted.is_null();
    ok = AddSample(*model, *reference, sample, found) && ok;
  }
  const bool wide = type == ComputeType::kFloat32;
  for (const Difference& difference : {found.norm, found.cosine, found.alpha}) {
    ok = ok && (wide ? difference.largest <= kFloat32Limit : difference.mean() <= kBfloat16Limit);
  }
  // Thresholds may cut through bfloat16's rounding where nothing was planted.
  if (wide || planted) ok = ok && found.records_alike == found.records;
  ok = ok && found.planted_came_back;
  std::printf("| %s | %s | %.1e | %.1e | %.1e | %.1e | %d of %d%s | %s |\n",
              folder.filename().c_str(), wide ? "float32" : "bfloat16", found.norm.largest,
              found.cosine.largest, found.alpha.largest,
              std::max({found.norm.mean(), found.cosine.mean(), found.alpha.mean()}),
              found.records_alike, found.records,
              !planted                  ? ""
              : found.planted_came_back ? ", as planted"
                                        : ", NOT as planted",
              ok ? "ok" : "FAILED");
  return ok;
}

}  // namespace

bool CompareWithCpu(const std::string& device, const std::vector<std::filesystem::path>& folders) {
  std::printf(
      "| checkpoint | type | norms, relative | cosines | alpha | largest mean | records alike | |\n"
      "|---|---|---|---|---|---|---|---|\n");
  bool ok = !folders.empty();
  for (const std::filesystem::path& folder : folders) {
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16}) {
      ok = CompareFolder(device, folder, type) && ok;
      std::fflush(stdout);
    }
  }
  return ok;
}

}  // namespace sinkd::device_check
