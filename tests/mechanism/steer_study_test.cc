#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// At block 2 the MLP writes (30,0,0) at position 1 of each, along the primary sink's (1,0,0).
const std::vector<TokenIds> kSamples = {{0, 1, 3, 2}, {0, 1, 2, 2}};

class Steer : public testing::Test {
 protected:
  SteerReport Run(const SteerParameters& steer) {
    report_ = RunToy({.targets = {.l_start = 2}, .study = steer}, model_, kSamples);
    return std::get<SteerReport>(report_.findings);
  }
  ToyModel model_;
  StudyReport report_;
};

TEST_F(Steer, SetsNormsAndFindsSinksAgain) {
  const SteerReport report = Run({.taus = {60, 2}});
  EXPECT_EQ(report.block, 2);
  EXPECT_EQ(report.steered, 2);
  ASSERT_EQ(report.rows.size(), 3u);
  const SteerRow& as_it_is = report.rows[0];
  EXPECT_FALSE(as_it_is.tau.has_value());
  EXPECT_EQ(as_it_is.mlp_norm.value, 30);
  EXPECT_EQ(as_it_is.lifetime.value, 2);
  EXPECT_EQ(as_it_is.sinks.value, 1);
  EXPECT_NEAR(*as_it_is.score.value, ToyModel::kAlpha, 1e-6);
  // 2 is too little for layers 2 and 3; the 30 that block 4 takes off leave -28 there.
  EXPECT_EQ(report.rows[1].tau, 2);
  EXPECT_NEAR(*report.rows[1].mlp_norm.value, 2, 1e-6);
  EXPECT_EQ(report.rows[1].lifetime.value, 1);
  // 60 leave 30 there.
  EXPECT_EQ(report.rows[2].tau, 60);
  EXPECT_EQ(report.rows[2].lifetime.value, 3);
}

TEST_F(Steer, TriesMultiplesOfTheMeanNormByDefault) {
  const SteerReport report = Run({});
  ASSERT_EQ(report.rows.size(), 8u);
  EXPECT_EQ(report.rows[1].tau, 0);
  EXPECT_NEAR(*report.rows[2].tau, 7.5, 1e-6);
  EXPECT_NEAR(*report.rows[5].tau, 30, 1e-6);
  EXPECT_EQ(report.rows[5].lifetime.value, report.rows[0].lifetime.value);
  EXPECT_NEAR(*report.rows[7].tau, 60, 1e-6);
}

TEST_F(Steer, OnlyShortensWhenItClips) {
  const SteerReport report = Run({.taus = {2, 60}, .mode = SteerMode::kClip});
  EXPECT_NEAR(*report.rows[1].mlp_norm.value, 2, 1e-6);
  EXPECT_NEAR(*report.rows[2].mlp_norm.value, 30, 1e-6);
  EXPECT_EQ(report.rows[2].lifetime.value, 2);
}

TEST_F(Steer, WritesARandomDirectionOfTheNormBesideIt) {
  const SteerReport report = Run({.taus = {0, 60}});
  // A direction of no length is no direction: as setting the norm to 0, which leaves layer 4 only.
  EXPECT_EQ(report.rows[1].random_lifetime.value, report.rows[1].lifetime.value);
  EXPECT_EQ(report.rows[2].random_lifetime.n, 2);
  EXPECT_LT(*report.rows[2].random_lifetime.value, *report.rows[2].lifetime.value);
  EXPECT_EQ(report.rows[0].random_lifetime.undefined, "not steered");
}

TEST_F(Steer, WatchesTheSinksThatWereNotSteered) {
  const SteerReport report = Run({.taus = {60}});
  EXPECT_EQ(report.rows[1].untouched_lifetime_change.n, 1);
  EXPECT_EQ(report.rows[1].untouched_lifetime_change.value, 0);
}

TEST_F(Steer, MeasuresTheLossUnlessToldNotTo) {
  const SteerReport report = Run({.taus = {60}});
  // 30 more at one of four positions.
  EXPECT_NEAR(*report.rows[1].loss_change->value, 30.0 / 4, 1e-5);
  EXPECT_EQ(report.rows[0].loss_change->undefined, "not steered");
  EXPECT_FALSE(Run({.taus = {60}, .loss = false}).rows[1].loss_change.has_value());
}

TEST_F(Steer, NeedsNoTargetsWhenTheBlockIsNamed) {
  const StudyReport report =
      RunToy({.targets = {.kinds = {SinkKind::kNoise}}, .study = SteerParameters{.block = 3}},
             model_, kSamples);
  EXPECT_EQ(report.targets, 0);
  EXPECT_EQ(std::get<SteerReport>(report.findings).steered, 1);
}

TEST_F(Steer, SaysWhyThereIsNothing) {
  const StudyReport none = RunToy({.study = SteerParameters{}}, model_, {{0, 2}});
  EXPECT_EQ(std::get<SteerReport>(none.findings).undefined, "no targets, and no block named");
  EXPECT_EQ(Run({.block = 1}).undefined,
            "nowhere does the MLP write along the primary sink's direction");
  EXPECT_TRUE(Run({.block = 1}).rows.empty());
}

}  // namespace
}  // namespace sinkd
