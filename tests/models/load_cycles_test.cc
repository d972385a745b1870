// Loading, using and unloading a model, over and over: the memory is what it was.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "tests/models/failed_load.h"
#include "tests/testing/process_memory.h"

namespace sinkd::testing {
namespace {

constexpr int kCycles = 50;
constexpr size_t kSettled = 5;  // cycles until libraries have what they keep

class LoadCycles : public FailedLoad {
 protected:
  static void SetUpTestSuite() { SetComputeThreads(2); }

  // What the process holds while the model is loaded and used, and after it is unloaded.
  struct Cycle {
    double loaded = 0;
    double unloaded = 0;
  };
  Cycle Run(int i) {
    Cycle cycle;
    EXPECT_TRUE(Load().ok());
    {
      const auto model = registry_.Acquire("large");
      EXPECT_TRUE(model.ok());
      const TokenIds ids(static_cast<size_t>(100 + i % 3 * 200), 1 + i);
      const auto traces = (*model)->model->Run({&ids, 1}, {});  // reads every weight
      EXPECT_TRUE(traces.ok()) << traces.status();
      cycle.loaded = StatusBytes("VmRSS");
    }
    EXPECT_TRUE(registry_.Unload("large").ok());
    EXPECT_EQ(held_bytes_, 0);
    cycle.unloaded = StatusBytes("VmRSS");
    return cycle;
  }
};

TEST_F(LoadCycles, EndWithTheMemoryTheyBeganWith) {
  std::vector<double> unloaded;
  for (int i = 0; i < kCycles; ++i) {
    const Cycle cycle = Run(i);
    EXPECT_GT(cycle.loaded - cycle.unloaded, 0.9 * static_cast<double>(checkpoint_.weight_bytes()));
    unloaded.push_back(cycle.unloaded);
  }
  const auto settled = unloaded.begin() + kSettled;
  const double most = *std::max_element(settled, unloaded.end());
  std::printf(
      "resident, unloaded: %.1f MiB after cycle 1, %.1f after %zu, %.1f after %d, at most %.1f\n",
      unloaded.front() / kMebibyte, *settled / kMebibyte, kSettled + 1, unloaded.back() / kMebibyte,
      kCycles, most / kMebibyte);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(most, 1.05 * *settled);
#endif
}

}  // namespace
}  // namespace sinkd::testing
