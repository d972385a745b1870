#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

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
constexpr double kThreshold = 0.9;  // |cosine| of a planted sink with the primary one is over it

struct CheckedSample {
  TokenIds ids;
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
  int planted = 0;  // samples
  int came_back = 0;
};

std::vector<CheckedSample> SamplesOf(const std::filesystem::path& folder, const DecoderSpec& spec) {
  std::vector<CheckedSample> samples;
  std::ifstream records(folder / "records.jsonl");
  for (std::string line; std::getline(records, line);) {
    Json planted = Json::parse(line);
    auto ids = planted["token_ids"].get<TokenIds>();
    samples.push_back({std::move(ids), std::move(planted)});
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

// Whether exactly the planted positions point the way of the primary sink, each at its layers.
bool IsPlanted(const Trace& got, const Json& want) {
  const auto primary = want["primary"]["position"].get<int64_t>();
  const auto window = want["primary"]["window"].get<std::vector<int64_t>>();
  std::map<int64_t, std::vector<int64_t>> planted, found;
  for (const Json& sink : want["sinks"]) {
    planted[sink["position"].get<int64_t>()] = sink["layers"].get<std::vector<int64_t>>();
  }
  for (int64_t t = primary + 1; t < got.positions; ++t) {
    for (int64_t l = window[0]; l < window[1]; ++l) {
      if (std::abs(got.Cosine(l, primary, t)) > kThreshold) found[t].push_back(l);
    }
  }
  return found == planted;
}

// False, saying why, when one of them fails.
bool AddSample(const Model& model, AttentionChoice choice, const Model& reference,
               const CheckedSample& sample, Differences& differences) {
  ChooseAttention(choice);
  const auto got = model.Run({&sample.ids, 1}, TraceRequest());
  ChooseAttention(AttentionChoice::kAuto);
  const auto want = reference.Run({&sample.ids, 1}, TraceRequest());
  if (!got.ok() || !want.ok()) {
    std::fprintf(stderr, "%s / %s\n", got.status().ToString().c_str(),
                 want.status().ToString().c_str());
    return false;
  }
  AddTraces(got->front(), want->front(), differences);
  if (sample.planted.is_null()) return true;
  ++differences.planted;
  if (IsPlanted(got->front(), sample.planted)) ++differences.came_back;
  return true;
}

bool CompareFolder(const std::string& device, const std::filesystem::path& folder, ComputeType type,
                   AttentionChoice choice) {
  const auto reference = LoadOrExit(folder, "cpu", type);
  ChooseAttention(choice);
  const auto model = LoadOrExit(folder, device, type);
  Differences found;
  bool ok = true;
  for (const CheckedSample& sample : SamplesOf(folder, model->info().spec)) {
    ok = AddSample(*model, choice, *reference, sample, found) && ok;
  }
  const bool wide = type == ComputeType::kFloat32;
  for (const Difference& difference : {found.norm, found.cosine, found.alpha}) {
    ok = ok && (wide ? difference.largest <= kFloat32Limit : difference.mean() <= kBfloat16Limit);
  }
  ok = ok && found.came_back == found.planted;
  std::printf("| %s | %s | %s | %.1e | %.1e | %.1e | %.1e | %d of %d | %s |\n",
              folder.filename().c_str(), wide ? "float32" : "bfloat16",
              model->info().attention.c_str(), found.norm.largest, found.cosine.largest,
              found.alpha.largest,
              std::max({found.norm.mean(), found.cosine.mean(), found.alpha.mean()}),
              found.came_back, found.planted, ok ? "ok" : "FAILED");
  return ok;
}

}  // namespace

bool CompareWithCpu(const std::string& device, const std::vector<std::filesystem::path>& folders) {
  std::printf(
      "| checkpoint | type | attention | norms, relative | cosines | alpha | largest mean | as "
      "planted | |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  bool ok = !folders.empty();
  for (const std::filesystem::path& folder : folders) {
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16}) {
      for (const auto choice : {AttentionChoice::kFusedCalls, AttentionChoice::kStrips}) {
        ok = CompareFolder(device, folder, type, choice) && ok;
        std::fflush(stdout);
      }
    }
  }
  return ok;
}

}  // namespace sinkd::device_check
