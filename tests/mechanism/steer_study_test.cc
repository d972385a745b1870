#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// At block 2 the MLP writes (30,0,0) at position 1 of each, along the primary sink's (1,0,0).
const std::vector<TokenIds> kSamples = {{0, 1, 3, 2}, {0, 1, 2, 2}};

class Steer : public testing::Test {
 protected:
  v1::SteerReport Run(const std::string& steer) {
    report_ = RunToy("targets { l_start: 2 } steer { " + steer + " }", model_, kSamples);
    return report_.steer();
  }
  ToyModel model_;
  v1::StudyReport report_;
};

TEST_F(Steer, SetsNormsAndFindsSinksAgain) {
  const v1::SteerReport report = Run("taus: [60, 2]");
  EXPECT_EQ(report.block(), 2);
  EXPECT_EQ(report.steered(), 2);
  ASSERT_EQ(report.rows().size(), 3);
  const v1::SteerRow& as_it_is = report.rows()[0];
  EXPECT_FALSE(as_it_is.has_tau());
  EXPECT_EQ(ValueOf(as_it_is.mlp_norm()), 30);
  EXPECT_EQ(ValueOf(as_it_is.lifetime()), 2);
  EXPECT_EQ(ValueOf(as_it_is.sinks()), 1);
  EXPECT_NEAR(*ValueOf(as_it_is.score()), ToyModel::kAlpha, 1e-6);
  // 2 is too little for layers 2 and 3; the 30 that block 4 takes off leave -28 there.
  EXPECT_EQ(report.rows()[1].tau(), 2);
  EXPECT_NEAR(*ValueOf(report.rows()[1].mlp_norm()), 2, 1e-6);
  EXPECT_EQ(ValueOf(report.rows()[1].lifetime()), 1);
  // 60 leave 30 there.
  EXPECT_EQ(report.rows()[2].tau(), 60);
  EXPECT_EQ(ValueOf(report.rows()[2].lifetime()), 3);
}

TEST_F(Steer, TriesMultiplesOfTheMeanNormByDefault) {
  const v1::SteerReport report = Run("");
  ASSERT_EQ(report.rows().size(), 8);
  EXPECT_EQ(report.rows()[1].tau(), 0);
  EXPECT_NEAR(report.rows()[2].tau(), 7.5, 1e-6);
  EXPECT_NEAR(report.rows()[5].tau(), 30, 1e-6);
  EXPECT_EQ(ValueOf(report.rows()[5].lifetime()), ValueOf(report.rows()[0].lifetime()));
  EXPECT_NEAR(report.rows()[7].tau(), 60, 1e-6);
}

TEST_F(Steer, OnlyShortensWhenItClips) {
  const v1::SteerReport report = Run("taus: [2, 60] mode: STEER_MODE_CLIP");
  EXPECT_NEAR(*ValueOf(report.rows()[1].mlp_norm()), 2, 1e-6);
  EXPECT_NEAR(*ValueOf(report.rows()[2].mlp_norm()), 30, 1e-6);
  EXPECT_EQ(ValueOf(report.rows()[2].lifetime()), 2);
}

TEST_F(Steer, WritesARandomDirectionOfTheNormBesideIt) {
  const v1::SteerReport report = Run("taus: [0, 60]");
  // A direction of no length is no direction: as setting the norm to 0, which leaves layer 4 only.
  EXPECT_EQ(ValueOf(report.rows()[1].random_lifetime()), ValueOf(report.rows()[1].lifetime()));
  EXPECT_EQ(report.rows()[2].random_lifetime().n(), 2);
  EXPECT_LT(*ValueOf(report.rows()[2].random_lifetime()), *ValueOf(report.rows()[2].lifetime()));
  EXPECT_EQ(report.rows()[0].random_lifetime().undefined(), "not steered");
}

TEST_F(Steer, WatchesTheSinksThatWereNotSteered) {
  const v1::SteerReport report = Run("taus: [60]");
  EXPECT_EQ(report.rows()[1].untouched_lifetime_change().n(), 1);
  EXPECT_EQ(ValueOf(report.rows()[1].untouched_lifetime_change()), 0);
}

TEST_F(Steer, MeasuresTheLossUnlessToldNotTo) {
  const v1::SteerReport report = Run("taus: [60]");
  // 30 more at one of four positions.
  EXPECT_NEAR(*ValueOf(report.rows()[1].loss_change()), 30.0 / 4, 1e-5);
  EXPECT_EQ(report.rows()[0].loss_change().undefined(), "not steered");
  EXPECT_FALSE(Run("taus: [60] loss: false").rows()[1].has_loss_change());
}

TEST_F(Steer, NeedsNoTargetsWhenTheBlockIsNamed) {
  const v1::StudyReport report =
      RunToy("targets { kinds: [SINK_KIND_NOISE] } steer { block: 3 }", model_, kSamples);
  EXPECT_EQ(report.targets(), 0);
  EXPECT_EQ(report.steer().steered(), 1);
}

TEST_F(Steer, SaysWhyThereIsNothing) {
  const v1::StudyReport none = RunToy("steer {}", model_, {{0, 2}});
  EXPECT_EQ(none.steer().undefined(), "no targets, and no block named");
  EXPECT_EQ(Run("block: 1").undefined(),
            "nowhere does the MLP write along the primary sink's direction");
  EXPECT_TRUE(Run("block: 1").rows().empty());
}

}  // namespace
}  // namespace sinkd
