#include "server/mechanism/draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(Draws, TakeTheGeneratorsOutputModuloTheCount) {
  // The first two outputs of std::mt19937_64 for its default seed, 5489.
  Draws draws(5489);
  EXPECT_EQ(draws.Index(1000), 14514284786278117030u % 1000);
  EXPECT_EQ(draws.Index(1000), 4620546740167642908u % 1000);
}

TEST(Draws, ChooseEveryIndexOnceAtMost) {
  Draws draws(1);
  const std::vector<int64_t> chosen = draws.Choose(int64_t{1} << 40, 1000);
  EXPECT_EQ(std::set<int64_t>(chosen.begin(), chosen.end()).size(), 1000u);
  std::vector<int64_t> all = draws.Choose(50, 80);
  std::sort(all.begin(), all.end());
  std::vector<int64_t> expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

TEST(Draws, ChooseEachSubsetEquallyOften) {
  Draws draws(7);
  std::array<int, 5> counts{};
  constexpr int kRounds = 20000;
  for (int i = 0; i < kRounds; ++i) {
    for (const int64_t index : draws.Choose(5, 2)) ++counts[static_cast<size_t>(index)];
  }
  // Binomial with p = 2/5: five standard deviations are 346.
  for (const int count : counts) EXPECT_NEAR(count, kRounds * 2 / 5, 346);
}

TEST(Draws, GiveTheSameForTheSameSeedOnly) {
  EXPECT_EQ(Draws(3).UnitVector(8), Draws(3).UnitVector(8));
  EXPECT_NE(Draws(3).UnitVector(8), Draws(4).UnitVector(8));
}

TEST(Draws, OfDirectionsHaveLengthOneAndNoPreferredOne) {
  Draws draws(11);
  constexpr int kRounds = 20000;
  std::array<double, 3> mean{}, square{};
  for (int i = 0; i < kRounds; ++i) {
    const std::vector<float> direction = draws.UnitVector(3);
    double length = 0;
    for (size_t c = 0; c < 3; ++c) {
      mean[c] += direction[c] / kRounds;
      square[c] += direction[c] * direction[c] / kRounds;
      length += direction[c] * direction[c];
    }
    ASSERT_NEAR(length, 1, 1e-6);
  }
  // Channels of a direction in three dimensions are uniform in [-1, 1]: variance 1/3, of squares
  // 4/45. Five standard deviations of the mean each.
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(mean[c], 0, 5 * std::sqrt(1.0 / 3 / kRounds));
    EXPECT_NEAR(square[c], 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kRounds));
  }
}

}  // namespace
}  // namespace sinkd
