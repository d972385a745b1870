// Measures what one forward pass takes at its peak, beside what its estimate says:
//
//   forward_memory FOLDER float32|bfloat16 LENGTH[,LENGTH...]
//
// prints "estimate peak", in bytes. A process of its own for each measurement: what an earlier pass
// left with the allocator would hide what a later one takes.
#include <malloc.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include "server/engine/activation_memory.h"
#include "server/engine/memory_estimate.h"
#include "server/engine/model.h"
#include "tests/testing/process_memory.h"

namespace {

sinkd::TokenIds Sample(int64_t length) {
  sinkd::TokenIds ids(static_cast<size_t>(length));
  std::iota(ids.begin(), ids.end(), 1);
  for (int32_t& id : ids) id %= 1000;
  return ids;
}

bool Run(const sinkd::Model& model, const std::vector<sinkd::TokenIds>& batch) {
  const auto traces = model.Run(batch, {});
  if (!traces.ok()) std::fprintf(stderr, "%s\n", traces.status().ToString().c_str());
  return traces.ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  sinkd::SetComputeThreads(2);
  sinkd::ArithmeticOfCpu();
  sinkd::LoadOptions options;
  options.compute_type = std::string(argv[2]) == "bfloat16" ? sinkd::ComputeType::kBfloat16
                                                            : sinkd::ComputeType::kFloat32;
  const auto model = sinkd::Model::Load(argv[1], options);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    return 1;
  }
  std::vector<sinkd::TokenIds> batch;
  for (const auto& word : absl::StrSplit(argv[3], ',')) {
    int64_t length = 0;
    if (!absl::SimpleAtoi(word, &length)) return 2;
    batch.push_back(Sample(length));
  }
  bool ok = false;
  double before = 0;
  double peak = 0;
  std::thread([&] {
    ok = Run(**model, batch);  // what libraries keep for good, kernels of these shapes among it
    sinkd::TrimActivations();
    malloc_trim(0);
    before = sinkd::testing::StatusBytes("VmRSS");
    sinkd::testing::ForgetPeak();
    ok = ok && Run(**model, batch);
    peak = sinkd::testing::StatusBytes("VmHWM");
  }).join();
  const sinkd::ModelInfo& info = (*model)->info();
  std::vector<int64_t> lengths;
  for (const sinkd::TokenIds& ids : batch) lengths.push_back(static_cast<int64_t>(ids.size()));
  std::printf("%lld %.0f\n",
              static_cast<long long>(
                  sinkd::ForwardBytes(info.spec, info.compute_type, info.device, lengths)),
              peak - before);
  return ok ? 0 : 1;
}
