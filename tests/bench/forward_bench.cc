// What statistics cost: a forward pass with attention sums against one that takes norms and cosines
// alone, and one that describes heads as well against that with attention sums, on the same model
// and sample, interleaved, as ratios of CPU time. Machines are shared and noisy, so the ratios are
// what to read. Prints a Markdown table.
//
//   forward_bench MODEL_FOLDER [LENGTH...]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "server/engine/model.h"
#include "tests/bench/median.h"

namespace {

constexpr int kPairs = 7;
constexpr int kLongPairs = 3;  // of samples longer than kLong
constexpr int kLong = 2048;

double ProcessSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double TimeRun(const sinkd::Model& model, const sinkd::TokenIds& ids,
               const sinkd::TraceRequest& request) {
  const double begin = ProcessSeconds();
  const auto traces = model.Run({&ids, 1}, request);
  if (!traces.ok()) {
    std::fprintf(stderr, "%s\n", traces.status().ToString().c_str());
    std::exit(1);
  }
  return ProcessSeconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: forward_bench MODEL_FOLDER [LENGTH...]\n");
    return 2;
  }
  const auto model = sinkd::Model::Load(argv[1], {});
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    return 1;
  }
  std::vector<int> lengths;
  for (int i = 2; i < argc; ++i) lengths.push_back(std::atoi(argv[i]));
  if (lengths.empty()) lengths = {64, 512, 2048};
  std::printf(
      "| tokens | whole trace (s) | norms only (s) | ratio | with heads (s) | ratio to whole |\n"
      "|---|---|---|---|---|---|\n");
  std::mt19937 random(1);
  for (const int length : lengths) {
    sinkd::TokenIds ids;
    for (int t = 0; t < length; ++t) {
      ids.push_back(
          static_cast<int32_t>(random() % static_cast<uint32_t>((*model)->info().spec.vocabulary)));
    }
    std::vector<double> norms, attention, heads, attention_ratio, heads_ratio;
    TimeRun(**model, ids, {.heads = true});
    for (int pair = 0; pair < (length > kLong ? kLongPairs : kPairs); ++pair) {
      norms.push_back(TimeRun(**model, ids, {.attention = false}));
      attention.push_back(TimeRun(**model, ids, {}));
      heads.push_back(TimeRun(**model, ids, {.heads = true}));
      attention_ratio.push_back(attention.back() / norms.back());
      heads_ratio.push_back(heads.back() / attention.back());
    }
    std::printf("| %d | %.3f | %.3f | %.3f | %.3f | %.3f |\n", length, Median(attention),
                Median(norms), Median(attention_ratio), Median(heads), Median(heads_ratio));
  }
  return 0;
}
