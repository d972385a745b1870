// The edges of the definitions that random data do not reach.
#include "server/analysis/sink_detection.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// [L, T] norms by layer; all cosines 0.
Trace TraceOf(const std::vector<std::vector<float>>& norms) {
  Trace trace;
  trace.layers = static_cast<int64_t>(norms.size());
  trace.positions = static_cast<int64_t>(norms[0].size());
  trace.candidates = std::min<int64_t>(3, trace.positions);
  for (const auto& row : norms)
    trace.state_norm.insert(trace.state_norm.end(), row.begin(), row.end());
  trace.mlp_norm = trace.state_norm;
  trace.candidate_cosine.assign(Trace::At(trace.layers * trace.candidates * trace.positions), 0);
  return trace;
}

void SetCosine(Trace& trace, int64_t l, int64_t c, int64_t t, float value) {
  trace.candidate_cosine[Trace::At((l * trace.candidates + c) * trace.positions + t)] = value;
}

Window WindowOf(const std::vector<float>& norms) {
  std::vector<std::vector<float>> rows;
  for (const float norm : norms) rows.push_back({norm});
  return FindWindow(TraceOf(rows), 0);
}

TEST(PrimarySink, IsTheLowestPositionOnATie) {
  const Primary primary = FindPrimary(TraceOf({{1, 2, 9}, {2, 1, 9}}), false);
  EXPECT_EQ(primary.position, 0);
  EXPECT_TRUE(primary.tied);
}

TEST(PrimarySink, TakesMeansWithinAMillionthForATie) {
  const Primary equal = FindPrimary(TraceOf({{1000000, 1000000.5}, {1000000, 1000000}}), false);
  EXPECT_EQ(equal.position, 0);
  EXPECT_TRUE(equal.tied);
  const Primary higher = FindPrimary(TraceOf({{1000000, 1000003}, {1000000, 1000000}}), false);
  EXPECT_EQ(higher.position, 1);
  EXPECT_FALSE(higher.tied);
  // The tie is with the highest mean, not with the one before.
  const Primary third = FindPrimary(
      TraceOf({{1000000, 1000000.75, 1000001.5}, {1000000, 1000000.75, 1000001.5}}), true);
  EXPECT_EQ(third.position, 1);
  EXPECT_TRUE(third.tied);
}

TEST(PrimarySink, CanBeTheThirdPositionOnlyAfterAChatTemplate) {
  const Trace trace = TraceOf({{1, 2, 9, 99}, {2, 2, 9, 99}});
  EXPECT_EQ(FindPrimary(trace, false).position, 1);
  EXPECT_EQ(FindPrimary(trace, true).position, 2);
}

TEST(PrimarySink, IsTheOnlyPositionOfASampleOfOne) {
  const Primary primary = FindPrimary(TraceOf({{1}, {2}}), true);
  EXPECT_EQ(primary.position, 0);
  EXPECT_FALSE(primary.tied);
}

TEST(Window, RunsFromTheLargestRiseToTheLargestFallAfterIt) {
  const Window window = WindowOf({9, 1, 50, 51, 52, 3, 2});
  EXPECT_EQ(window.start, 2);
  EXPECT_EQ(window.end, 5);
}

TEST(Window, TakesTheFirstOfEqualSteps) {
  const Window window = WindowOf({0, 10, 20, 10, 0});
  EXPECT_EQ(window.start, 1);
  EXPECT_EQ(window.end, 3);
}

TEST(Window, EndsWithTheLayersWhenTheRiseIsTheLastStep) {
  const Window window = WindowOf({1, 2, 50});
  EXPECT_EQ(window.start, 2);
  EXPECT_EQ(window.end, 3);
}

TEST(Window, OfTwoLayersIsTheSecond) {
  const Window window = WindowOf({5, 1});
  EXPECT_EQ(window.start, 1);
  EXPECT_EQ(window.end, 2);
}

struct KindCase {
  v1::KindRule rule;
  Level level;
  Window window;
  int64_t layers;
  v1::SinkKind kind;
};
void PrintTo(const KindCase& c, std::ostream* out) {
  *out << "level " << c.level.l_start << ", " << c.level.lifetime;
}

class Kind : public testing::TestWithParam<KindCase> {};

TEST_P(Kind, FollowsTheRuleAtItsEdges) {
  const KindCase& c = GetParam();
  EXPECT_EQ(KindOf(c.rule, c.level, c.window, c.layers), c.kind);
}

constexpr v1::KindRule kW = v1::KIND_RULE_WINDOW, kP = v1::KIND_RULE_PUBLISHED;
INSTANTIATE_TEST_SUITE_P(
    Sinks, Kind,
    testing::Values(KindCase{kW, {4, 20}, {4, 34}, 36, v1::SINK_KIND_PRIMARY},  // exactly 2/3 of 30
                    KindCase{kW, {5, 20}, {4, 34}, 36, v1::SINK_KIND_PRIMARY},  // start + 1
                    KindCase{kW, {6, 20}, {4, 34}, 36, v1::SINK_KIND_SECONDARY},  // start + 2
                    KindCase{kW, {4, 19}, {4, 34}, 36, v1::SINK_KIND_SECONDARY},
                    KindCase{kW, {4, 21}, {4, 35}, 36, v1::SINK_KIND_PRIMARY},  // 21 >= 20.67
                    KindCase{kW, {4, 20}, {4, 35}, 36, v1::SINK_KIND_SECONDARY},
                    KindCase{kW, {9, 4}, {4, 34}, 36, v1::SINK_KIND_NOISE},
                    KindCase{kW, {9, 5}, {4, 34}, 36, v1::SINK_KIND_SECONDARY},  // over 4
                    KindCase{kW, {9, 4}, {4, 28}, 36, v1::SINK_KIND_NOISE},      // exactly 24/6
                    KindCase{kW, {9, 4}, {4, 27}, 36, v1::SINK_KIND_SECONDARY},  // over 23/6
                    KindCase{kW, {9, 1}, {4, 10}, 36, v1::SINK_KIND_NOISE},      // exactly 6/6
                    KindCase{kW, {8, 1}, {4, 9}, 36, v1::SINK_KIND_SECONDARY},   // over 5/6
                    KindCase{kP, {4, 33}, {4, 47}, 48, v1::SINK_KIND_PRIMARY},   // L - 15
                    KindCase{kP, {30, 32}, {4, 47}, 48, v1::SINK_KIND_SECONDARY},
                    KindCase{kP, {30, 5}, {4, 47}, 48, v1::SINK_KIND_SECONDARY},
                    KindCase{kP, {4, 4}, {4, 47}, 48, v1::SINK_KIND_NOISE},
                    KindCase{kP, {4, 4}, {4, 18}, 19, v1::SINK_KIND_PRIMARY},
                    KindCase{kP, {4, 1}, {4, 18}, 15, v1::SINK_KIND_PRIMARY}));

// Position 0 shows from layer 1 to 3, the window is [1, 4).
class Sinks : public testing::Test {
 protected:
  Sinks()
      : trace_(TraceOf({{1, 1, 1, 1}, {90, 2, 3, 4}, {91, 2, 3, 4}, {92, 2, 3, 4}, {1, 1, 1, 1}})) {
  }

  std::vector<v1::Sink> Find() { return FindSinks(parameters_, trace_, 0, FindWindow(trace_, 0)); }

  Trace trace_;
  v1::DetectionParameters parameters_ = SpecFrom("").detection();
};

TEST_F(Sinks, NeedACosineOverTheThreshold) {
  parameters_.set_cosine_threshold(0.5);
  SetCosine(trace_, 1, 0, 2, 0.5f);
  EXPECT_THAT(Find(), IsEmpty());
  SetCosine(trace_, 1, 0, 2, 0.50001f);
  EXPECT_THAT(Find(), SizeIs(1));
}

TEST_F(Sinks, CanPointTheOppositeWay) {
  SetCosine(trace_, 2, 0, 3, -0.99f);
  ASSERT_THAT(Find(), SizeIs(1));
  EXPECT_EQ(Find()[0].position(), 3);
}

TEST_F(Sinks, CountOnlyLayersOfTheWindow) {
  SetCosine(trace_, 0, 0, 2, 1);
  SetCosine(trace_, 4, 0, 2, 1);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(Sinks, MayHaveGapsThatTheirLifetimeDoesNotCount) {
  SetCosine(trace_, 1, 0, 2, 0.95f);
  SetCosine(trace_, 3, 0, 2, 0.95f);
  const std::vector<v1::Sink> sinks = Find();
  ASSERT_THAT(sinks, SizeIs(1));
  EXPECT_THAT(sinks[0].layers(), ElementsAre(1, 3));
  EXPECT_EQ(LevelOf(sinks[0]), (Level{1, 2}));
  EXPECT_FALSE(sinks[0].contiguous());
  EXPECT_NEAR(sinks[0].margin(), 0.05, 1e-7);
  EXPECT_EQ(sinks[0].mlp_norm(), 3);
}

TEST_F(Sinks, NeedTheRatioToTheMedianOfTheWholeLayer) {
  parameters_.set_min_norm_ratio(1);  // the median of 2, 3, 4, 90 is 3.5
  for (const int64_t t : {1, 2, 3}) SetCosine(trace_, 2, 0, t, 1);
  const std::vector<v1::Sink> sinks = Find();
  ASSERT_THAT(sinks, SizeIs(1));
  EXPECT_EQ(sinks[0].position(), 3);
  parameters_.set_min_norm_ratio(4 / 3.5);  // met exactly
  EXPECT_THAT(Find(), SizeIs(1));
}

TEST_F(Sinks, LieAfterThePrimaryOne) {
  for (int64_t t = 0; t < 4; ++t) SetCosine(trace_, 2, 1, t, 1);
  const std::vector<v1::Sink> sinks = FindSinks(parameters_, trace_, 1, {1, 4});
  ASSERT_THAT(sinks, SizeIs(2));
  EXPECT_EQ(sinks[0].position(), 2);
}

}  // namespace
}  // namespace sinkd
