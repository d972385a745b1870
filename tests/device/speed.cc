#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "tests/device/checked_model.h"
#include "tests/device/checks.h"
#include "tests/device/device_memory.h"

namespace sinkd::device_check {
namespace {

constexpr int kPairs = 3;
constexpr std::pair<ComputeType, AttentionChoice> kWays[] = {
    {ComputeType::kBfloat16, AttentionChoice::kFusedCalls},
    {ComputeType::kBfloat16, AttentionChoice::kStrips},
    {ComputeType::kFloat32, AttentionChoice::kFusedCalls},
    {ComputeType::kFloat32, AttentionChoice::kStrips}};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Timing {
  std::vector<double> with, without, ratio;  // seconds, and their ratio pair by pair
  int64_t peak_bytes = 0;
  bool ok = true;

  double Run(const Model& model, const TokenIds& ids, bool attention) {
    const auto begin = std::chrono::steady_clock::now();
    const auto traces = model.Run({&ids, 1}, {.attention = attention});
    if (!traces.ok()) {
      std::fprintf(stderr, "%zu tokens: %s\n", ids.size(), traces.status().ToString().c_str());
      ok = false;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

Timing Measure(const Model& model, const std::string& device, const TokenIds& ids) {
  Timing timing;
  timing.Run(model, ids, false);
  timing.peak_bytes = PeakBytes(device, [&] { timing.Run(model, ids, true); });
  for (int pair = 0; pair < kPairs && timing.ok; ++pair) {
    timing.with.push_back(timing.Run(model, ids, true));
    timing.without.push_back(timing.Run(model, ids, false));
    timing.ratio.push_back(timing.with.back() / timing.without.back());
  }
  return timing;
}

}  // namespace

bool MeasureSpeed(const std::string& device, const std::filesystem::path& folder,
                  const std::vector<int64_t>& lengths) {
  std::printf(
      "| tokens | type | attention | with statistics (s) | without (s) | ratio | tokens/s | peak "
      "over "
      "weights (MiB) |\n|---|---|---|---|---|---|---|---|\n");
  bool ok = true;
  for (const auto& [type, choice] : kWays) {
    ChooseAttention(choice);
    const auto model = LoadOrExit(folder, device, type);
    for (const int64_t length : lengths) {
      const Timing timing = Measure(*model, device, RandomIds(model->info().spec, length));
      ok = ok && timing.ok;
      if (!timing.ok) break;
      const double seconds = Median(timing.with);
      std::printf("| %lld | %s | %s | %.3f | %.3f | %.2f | %.0f | %.0f |\n",
                  static_cast<long long>(length), model->info().compute_type.c_str(),
                  model->info().attention.c_str(), seconds, Median(timing.without),
                  Median(timing.ratio), static_cast<double>(length) / seconds,
                  static_cast<double>(timing.peak_bytes) / (1 << 20));
      std::fflush(stdout);
    }
  }
  return ok;
}

}  // namespace sinkd::device_check
