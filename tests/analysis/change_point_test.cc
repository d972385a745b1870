// Change points against numpy, which tries every division, and scipy's permutation test.
#include "server/analysis/change_point.h"

#include <cmath>
#include <vector>

#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

// What a share of kChangePermutations draws may lie from the probability that it estimates.
constexpr double kDeviations = 5;

TEST(ChangePoint, EqualsNumpysBestDivision) {
  const Json cases = ReadOracle("change_points.json");
  ASSERT_GT(cases.size(), 10u);
  for (const Json& want : cases) {
    SCOPED_TRACE(want["name"]);
    const ChangePoint found = FindChangePoint(want["values"].get<std::vector<double>>());
    EXPECT_EQ(found.undefined, "");
    EXPECT_EQ(found.at, want["at"].get<size_t>());
    EXPECT_EQ(found.lowest, want["lowest"].get<size_t>());
    EXPECT_EQ(found.highest, want["highest"].get<size_t>());
    EXPECT_LT(RelativeDifference(found.mean_before, want["before"]), 1e-12);
    EXPECT_LT(RelativeDifference(found.mean_after, want["after"]), 1e-12);
    const double p = want["p"];
    const double draws = kChangePermutations;
    EXPECT_NEAR(found.p, p, kDeviations * std::sqrt(p * (1 - p) / draws) + 2 / draws);
  }
}

TEST(ChangePoint, SaysWhyThereIsNone) {
  EXPECT_EQ(FindChangePoint(std::vector<double>{1, 2, 3, 4}).undefined,
            "needs at least 5 values; there are 4");
  EXPECT_EQ(FindChangePoint({}).undefined, "needs at least 5 values; there are 0");
  EXPECT_EQ(FindChangePoint(std::vector<double>(9, 0.1)).undefined, "all values are equal");
}

TEST(ChangePoint, FindsAStepAmongManyValues) {
  std::vector<double> values(3000, 0.25);
  std::fill(values.begin() + 2000, values.end(), 0.75);
  const ChangePoint found = FindChangePoint(values);
  EXPECT_EQ(found.at, 2000u);
  EXPECT_EQ(found.lowest, 2000u);
  EXPECT_EQ(found.highest, 2000u);
  EXPECT_EQ(found.p, 1.0 / (kChangePermutations + 1));
}

}  // namespace
}  // namespace sinkd
