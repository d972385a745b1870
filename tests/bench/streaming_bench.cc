// What weight streaming costs and saves: a batch of samples over a model whose weights are resident
// against the same streamed from the page cache, interleaved; the ratio of wall time, and the peak
// of memory that each adds to the bare process.
//
//   streaming_bench MODEL_FOLDER [SAMPLES LENGTH]
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "server/engine/model.h"
#include "server/engine/model_plan.h"
#include "tests/bench/median.h"
#include "tests/testing/process_memory.h"

namespace {

constexpr int kPairs = 3;
constexpr double kMiB = 1 << 20;

struct Cost {
  double seconds = 0;
  double peak = 0;  // MiB over the bare process, weights included
};

void MeasureHere(const std::string& folder, sinkd::Residency residency,
                 const std::vector<sinkd::TokenIds>& batch, int out) {
  const double bare = sinkd::testing::StatusBytes("VmRSS");
  const auto model = sinkd::Model::Load(folder, {.residency = residency});
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    std::exit(1);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto traces = (*model)->Run(batch, {});
  if (!traces.ok()) {
    std::fprintf(stderr, "%s\n", traces.status().ToString().c_str());
    std::exit(1);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const Cost cost{elapsed.count(), (sinkd::testing::StatusBytes("VmHWM") - bare) / kMiB};
  std::exit(write(out, &cost, sizeof cost) == sizeof cost ? 0 : 1);
}

// In a process of its own, so that no run has memory left from another.
Cost Measure(const std::string& folder, sinkd::Residency residency,
             const std::vector<sinkd::TokenIds>& batch) {
  std::fflush(stdout);  // or the child would print it again
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  if (fork() == 0) MeasureHere(folder, residency, batch, ends[1]);
  close(ends[1]);
  Cost cost;
  if (read(ends[0], &cost, sizeof cost) != sizeof cost) std::exit(1);
  close(ends[0]);
  wait(nullptr);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: streaming_bench MODEL_FOLDER [SAMPLES LENGTH]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int samples = argc == 4 ? std::atoi(argv[2]) : 8;
  const int length = argc == 4 ? std::atoi(argv[3]) : 2048;
  const auto plan = sinkd::PlanModel(folder, {.residency = sinkd::Residency::kStreamed}, length);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.status().ToString().c_str());
    return 1;
  }
  std::mt19937 random(1);
  std::vector<sinkd::TokenIds> batch(static_cast<size_t>(samples));
  for (sinkd::TokenIds& ids : batch) {
    for (int t = 0; t < length; ++t) {
      ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(plan->spec.vocabulary)));
    }
  }
  std::printf("%d samples of %d tokens; weights %.0f MiB, of which streaming holds %.0f MiB\n",
              samples, length, static_cast<double>(plan->weight_bytes) / kMiB,
              static_cast<double>(plan->devices.front().weight_bytes) / kMiB);
  std::vector<double> ratios;
  Cost resident, streamed;
  for (int pair = 0; pair < kPairs; ++pair) {
    streamed = Measure(folder, sinkd::Residency::kStreamed, batch);
    resident = Measure(folder, sinkd::Residency::kResident, batch);
    ratios.push_back(streamed.seconds / resident.seconds);
    std::printf("resident %7.2f s, peak %6.0f MiB; streamed %7.2f s, peak %6.0f MiB; ratio %.3f\n",
                resident.seconds, resident.peak, streamed.seconds, streamed.peak, ratios.back());
  }
  std::printf("median ratio of time %.3f\n", Median(ratios));
  return 0;
}
