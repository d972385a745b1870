#include "server/mechanism/targets.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct PlacedSink {
  int32_t position;
  int32_t l_start;
  v1::SinkKind kind = v1::SINK_KIND_SECONDARY;
};

// p0 is position 0.
DetectedSample SampleOf(TokenIds ids, const std::vector<PlacedSink>& sinks) {
  DetectedSample sample;
  sample.record.set_positions(std::ssize(ids));
  for (const PlacedSink& placed : sinks) {
    v1::Sink& sink = *sample.record.add_sinks();
    sink.set_position(placed.position);
    sink.set_token_id(ids[static_cast<size_t>(placed.position)]);
    sink.set_l_start(placed.l_start);
    sink.set_kind(placed.kind);
  }
  sample.sample.ids = std::move(ids);
  return sample;
}

v1::TargetFilter Filter(const std::string& text) {
  return Ask("targets { " + text + " }").targets();
}

std::vector<int32_t> PositionsOf(const std::vector<ChosenPosition>& chosen) {
  std::vector<int32_t> positions;
  for (const ChosenPosition& each : chosen) positions.push_back(each.position);
  return positions;
}

TEST(TargetStart, IsTheMostFrequentOfTheChosenKinds) {
  const std::vector<DetectedSample> samples = {
      SampleOf({0, 7, 7, 7, 7, 7}, {{1, 9},
                                    {2, 9},
                                    {3, 4, v1::SINK_KIND_NOISE},
                                    {4, 4, v1::SINK_KIND_NOISE},
                                    {5, 4, v1::SINK_KIND_NOISE}})};
  EXPECT_EQ(ChooseStart(Filter(""), samples), 9);
  EXPECT_EQ(ChooseStart(Filter("kinds: SINK_KIND_NOISE"), samples), 4);
  EXPECT_EQ(ChooseStart(Filter("kinds: SINK_KIND_PRIMARY"), samples), std::nullopt);
}

TEST(TargetStart, IsTheLowestOfEquallyFrequentOnes) {
  const std::vector<DetectedSample> samples = {SampleOf({0, 7, 7, 7}, {{1, 9}, {2, 5}}),
                                               SampleOf({0, 7, 7}, {{1, 9}, {2, 5}})};
  EXPECT_EQ(ChooseStart(Filter(""), samples), 5);
}

TEST(TargetStart, IsWhatTheFilterSays) {
  EXPECT_EQ(ChooseStart(Filter("l_start: 3"), {}), 3);
}

TEST(TargetStart, LooksAtTheChosenTokensOnly) {
  const std::vector<DetectedSample> samples = {SampleOf({0, 7, 7, 8}, {{1, 9}, {2, 9}, {3, 5}})};
  EXPECT_EQ(ChooseStart(Filter("token_ids: 8"), samples), 5);
}

TEST(Targets, MeetAllThatTheFilterSays) {
  const std::vector<DetectedSample> samples = {
      SampleOf({0, 7, 8, 7, 7}, {{1, 9}, {2, 9}, {3, 9, v1::SINK_KIND_NOISE}, {4, 5}}),
      SampleOf({0, 7, 7}, {{2, 9}})};
  Draws draws(0);
  const auto targets = ChooseTargets(Filter("token_ids: 7"), 9, samples, draws);
  EXPECT_THAT(PositionsOf(targets), ElementsAre(1, 2));
  EXPECT_EQ(targets[0].sample, 0);
  EXPECT_EQ(targets[1].sample, 1);
  EXPECT_THAT(PositionsOf(ChooseTargets(Filter(""), std::nullopt, samples, draws)),
              ElementsAre(1, 2, 4, 2));
}

TEST(Targets, OverTheLimitAreDrawnAndStayInOrder) {
  std::vector<PlacedSink> sinks;
  for (int32_t t = 1; t < 100; ++t) sinks.push_back({t, 9});
  const std::vector<DetectedSample> samples = {SampleOf(TokenIds(100, 7), sinks)};
  Draws draws(0), same(0), other(1);
  const auto targets = PositionsOf(ChooseTargets(Filter("limit: 20"), 9, samples, draws));
  EXPECT_EQ(targets.size(), 20u);
  EXPECT_TRUE(std::is_sorted(targets.begin(), targets.end()));
  EXPECT_GT(targets.back(), 20);
  EXPECT_EQ(targets, PositionsOf(ChooseTargets(Filter("limit: 20"), 9, samples, same)));
  EXPECT_NE(targets, PositionsOf(ChooseTargets(Filter("limit: 20"), 9, samples, other)));
}

// Two sinks of token 7; token 7 is none at 3 and 4; position 6 is a sink of another kind.
class Controls : public testing::Test {
 protected:
  std::vector<DetectedSample> samples_ = {
      SampleOf({7, 7, 7, 7, 9, 9, 7}, {{1, 9}, {2, 5}, {6, 4, v1::SINK_KIND_NOISE}}),
      SampleOf({0, 9, 7}, {})};
  std::vector<ChosenPosition> Choose(const std::vector<ChosenPosition>& targets) {
    Draws draws(2);
    return ChooseControls(targets, samples_, draws);
  }
  static ChosenPosition Target(int32_t position, int32_t token, int32_t l_start) {
    return {.sample = 0, .position = position, .token_id = token, .l_start = l_start};
  }
};

TEST_F(Controls, HaveATargetsTokenAndNeverAreASink) {
  const auto controls = Choose({Target(1, 7, 9), Target(2, 7, 5)});
  std::set<std::pair<int64_t, int32_t>> places;
  for (const ChosenPosition& control : controls) {
    places.insert({control.sample, control.position});
    EXPECT_TRUE(control.same_token);
    EXPECT_EQ(control.token_id, 7);
  }
  EXPECT_THAT(places, ElementsAre(std::pair{0, 3}, std::pair{1, 2}));
}

TEST_F(Controls, StandBesideTheTargetsInTheirOrder) {
  const auto controls = Choose({Target(1, 7, 9), Target(2, 7, 5)});
  EXPECT_EQ(controls[0].l_start, 9);
  EXPECT_EQ(controls[1].l_start, 5);
}

TEST_F(Controls, AreAnyOthersWhereTheTokenIsTooRare) {
  const auto controls = Choose({Target(1, 7, 9), Target(2, 7, 5), Target(2, 7, 5)});
  ASSERT_EQ(controls.size(), 3u);
  EXPECT_TRUE(controls[1].same_token);
  EXPECT_FALSE(controls[2].same_token);
  EXPECT_EQ(controls[2].token_id, 9);
}

TEST_F(Controls, AreFewerThanTargetsWhereNothingIsLeft) {
  // 3, 4 and 5 of the first sample, 1 and 2 of the second.
  EXPECT_EQ(Choose(std::vector<ChosenPosition>(10, Target(1, 7, 9))).size(), 5u);
}

TEST_F(Controls, AreNoneWithoutTargets) {
  EXPECT_THAT(Choose({}), IsEmpty());
}

}  // namespace
}  // namespace sinkd
