// What a forward pass takes at its peak, by the kernel's count, beside what docs/memory.md says.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <absl/strings/str_join.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/testing/large_checkpoint.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

constexpr double kFloor = 16 << 20;  // below it pages of small blocks count

struct Case {
  std::string name;
  LargeShape shape;
  std::string type;
  std::vector<int> lengths;
  const char* attention = "auto";
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.name;
}

class ForwardMemory : public ::testing::TestWithParam<Case> {
 protected:
  ~ForwardMemory() override { fs::remove_all(folder_); }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) / fmt::format("forward_memory_{}", getpid());
};

TEST_P(ForwardMemory, IsEstimatedWithinAFifth) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  const Case& given = GetParam();
  const LargeCheckpoint checkpoint(folder_, given.shape);
  const std::string command =
      fmt::format("SINKD_ATTENTION={} {} {} {} {}", given.attention, SINKD_FORWARD_MEMORY,
                  folder_.string(), given.type, absl::StrJoin(given.lengths, ","));
  FILE* const output = popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  double estimate = 0, peak = 0;
  EXPECT_EQ(fscanf(output, "%lf %lf", &estimate, &peak), 2);
  ASSERT_EQ(pclose(output), 0);
  std::printf("%s: estimate %.1f MiB, peak %.1f MiB, %.2f of it\n", given.name.c_str(),
              estimate / (1 << 20), peak / (1 << 20), estimate / peak);
  ASSERT_GT(peak, kFloor) << "too little to tell";
  EXPECT_NEAR(estimate, peak, 0.2 * peak);
}

constexpr LargeShape kNarrow = {
    .width = 576, .heads = 9, .kv_heads = 3, .blocks = 6, .max_positions = 8192};
constexpr LargeShape kWide = {
    .width = 1024, .units = 4096, .heads = 16, .kv_heads = 16, .blocks = 2, .max_positions = 8192};
constexpr LargeShape kGrouped = {
    .width = 1024, .units = 3584, .heads = 16, .kv_heads = 2, .blocks = 3, .max_positions = 8192};
const std::vector<int> kBatch(16, 128);

INSTANTIATE_TEST_SUITE_P(
    Passes, ForwardMemory,
    ::testing::Values(Case{"narrow_512", kNarrow, "float32", {512}},
                      Case{"narrow_2048", kNarrow, "float32", {2048}},
                      Case{"narrow_4096", kNarrow, "float32", {4096}},
                      Case{"narrow_batch", kNarrow, "float32", kBatch},
                      Case{"narrow_mixed", kNarrow, "float32", {1000, 50, 700, 100, 2000}},
                      Case{"narrow_bfloat16_1024", kNarrow, "bfloat16", {1024}},
                      Case{"narrow_bfloat16_4096", kNarrow, "bfloat16", {4096}},
                      Case{"wide_1024", kWide, "float32", {1024}},
                      Case{"wide_bfloat16_2048", kWide, "bfloat16", {2048}},
                      Case{"grouped_2048", kGrouped, "float32", {2048}},
                      Case{"grouped_4096", kGrouped, "float32", {4096}},
                      Case{"grouped_bfloat16_2048", kGrouped, "bfloat16", {2048}},
                      Case{"grouped_bfloat16_batch", kGrouped, "bfloat16", kBatch},
                      Case{"strips_4096", kGrouped, "float32", {4096}, "strips"},
                      Case{"strips_batch", kGrouped, "bfloat16", kBatch, "strips"},
                      Case{"fused_calls_2048", kGrouped, "float32", {2048}, "fused-calls"},
                      Case{"fused_calls_4096", kGrouped, "bfloat16", {4096}, "fused-calls"}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace sinkd::testing
