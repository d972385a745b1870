// Where torch's large blocks lie. A separate binary, since it changes the allocator for good.
#include "server/engine/activation_memory.h"

#include <random>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "server/engine/memory/best_fit.h"
#include "tests/testing/process_memory.h"

namespace sinkd {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST(BestFit, TakesTheSmallestHoleThatIsLargeEnough) {
  BestFit fit(1000);
  const auto large = fit.Take(100), wall = fit.Take(10), small = fit.Take(50), end = fit.Take(10);
  EXPECT_EQ(end, 160);
  fit.Give(*large);
  fit.Give(*small);
  EXPECT_EQ(fit.Take(40), 110);
  EXPECT_EQ(fit.Take(60), 0);
  EXPECT_EQ(fit.Take(41), 170) << "no hole is left for it";
  EXPECT_EQ(*wall, 100);
}

TEST(BestFit, JoinsHolesAndGrowsOutOfTheLast) {
  BestFit fit(1000);
  const auto a = fit.Take(100), b = fit.Take(100), c = fit.Take(100);
  fit.Give(*a);
  fit.Give(*c);
  fit.Give(*b);
  EXPECT_EQ(fit.holes(), (std::map<int64_t, int64_t>{{0, 300}}));
  EXPECT_EQ(fit.Take(400), 0);
  EXPECT_EQ(fit.end(), 400);
  EXPECT_EQ(fit.Take(601), std::nullopt);
  EXPECT_EQ(fit.Take(600), 400);
}

TEST(BestFit, NeverGivesAPlaceTwice) {
  constexpr int64_t kLimit = 5000;
  BestFit fit(kLimit);
  std::mt19937 random(3);
  std::map<int64_t, int64_t> blocks;
  for (int i = 0; i < 20000; ++i) {
    if (!blocks.empty() && random() % 2 == 0) {
      auto any = blocks.lower_bound(static_cast<int64_t>(random() % kLimit));
      if (any == blocks.end()) any = blocks.begin();
      fit.Give(any->first);
      blocks.erase(any);
    } else {
      const auto bytes = static_cast<int64_t>(1 + random() % 500);
      if (const auto begin = fit.Take(bytes)) blocks[*begin] = bytes;
    }
    int64_t next = 0, held = 0;  // blocks and holes, put together, fill [0, end)
    std::map<int64_t, int64_t> all = fit.holes();
    all.insert(blocks.begin(), blocks.end());
    for (const auto& [begin, bytes] : all) {
      ASSERT_EQ(begin, next);
      next = begin + bytes;
      held += bytes;
    }
    ASSERT_EQ(held, fit.end());
    ASSERT_LE(held, kLimit);
  }
}

class ActivationMemory : public ::testing::Test {
 protected:
  ActivationMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip_ = true;
#endif
    KeepActivationsTogether();
  }
  void SetUp() override {
    if (skip_) GTEST_SKIP() << "sanitizers watch the C library's blocks";
  }
  static at::Tensor Filled(int64_t mebibytes, int64_t value) {
    return at::full({mebibytes * kMebibyte / 4}, value, at::kInt);
  }
  static double Resident() {
    return testing::StatusBytes("RssAnon") / static_cast<double>(kMebibyte);
  }
  bool skip_ = false;
};

TEST_F(ActivationMemory, BlocksLieTogetherAndGoBackWhenTrimmed) {
  const double before = Resident();
  std::vector<at::Tensor> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(Filled(10, i));
  for (size_t i = 0; i < 20; i += 2) blocks[i].reset();
  EXPECT_NEAR(Resident() - before, 200, 8);
  for (size_t i = 0; i < 20; i += 2) blocks[i] = Filled(10, static_cast<int64_t>(i));
  EXPECT_NEAR(Resident() - before, 200, 8) << "holes are used again";
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(blocks[static_cast<size_t>(i)].eq(i).all().item<bool>());
  for (size_t i = 0; i < 19; ++i) blocks[i].reset();
  TrimActivations();
  EXPECT_NEAR(Resident() - before, 10, 8) << "beside one that is still used";
  EXPECT_TRUE(blocks.back().eq(19).all().item<bool>());
  blocks.clear();
  TrimActivations(20 * kMebibyte);
  EXPECT_LE(Resident() - before, 28);
  TrimActivations();
  EXPECT_NEAR(Resident() - before, 0, 8);
}

TEST_F(ActivationMemory, SeveralThreadsKeepToTheirOwn) {
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int64_t i = 0; i < 200; ++i) {
        const at::Tensor large = Filled(1 + i % 3, t), small = at::full({10}, t, at::kInt);
        ASSERT_TRUE(large.eq(t).all().item<bool>());
        ASSERT_TRUE(small.eq(t).all().item<bool>());
        if (i % 50 == 0) TrimActivations(kMebibyte);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ActivationMemory, MoreThanTheMachineHasIsRefusedAsEver) {
  EXPECT_THROW(at::empty({int64_t{1} << 46}, at::kByte), std::exception);
  EXPECT_TRUE(Filled(4, 7).eq(7).all().item<bool>());
}

}  // namespace
}  // namespace sinkd
