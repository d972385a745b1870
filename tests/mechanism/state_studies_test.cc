// Entropy, norms and massive activations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

TEST(EntropyStudy, MeansOverSamplesWithAndWithoutSinks) {
  ToyModel model;
  // The toy's entropy is the logarithm of the number of rows; C is 3.
  const v1::StudyReport report = RunToy("entropy {}", model, {{0, 1, 2, 2, 2}, {0, 1, 3, 2}});
  const auto& rows = report.entropy().rows();
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[4].block(), 4);
  EXPECT_NEAR(*ValueOf(rows[4].entropy()), (std::log(5) + std::log(4)) / 2, 1e-12);
  EXPECT_NEAR(*ValueOf(rows[4].normalized()), (std::log(5) + std::log(4)) / 2 / std::log(3), 1e-12);
  EXPECT_NEAR(*ValueOf(rows[4].without_sinks()), (std::log(3) + std::log(1)) / 2, 1e-12);
}

TEST(EntropyStudy, LooksAtItsWindowOnly) {
  ToyModel model;
  const v1::StudyReport report =
      RunToy("entropy { first: 1 end: 3 }", model, {{0, 1, 2, 2, 2}, {0, 1}, {0}});
  const auto& row = report.entropy().rows()[0];
  // Two positions, one, none.
  EXPECT_EQ(row.entropy().n(), 2);
  EXPECT_NEAR(*ValueOf(row.entropy()), std::log(2) / 2, 1e-12);
  EXPECT_EQ(row.normalized().n(), 1);
  EXPECT_NEAR(*ValueOf(row.normalized()), 1, 1e-12);
}

TEST(EntropyStudy, SaysWhyThereIsNoValue) {
  ToyModel model;
  const v1::StudyReport report = RunToy("entropy { first: 4 }", model, {{0, 1}});
  const auto& row = report.entropy().rows()[0];
  EXPECT_FALSE(row.entropy().has_value());
  EXPECT_EQ(row.entropy().undefined(), "no positions");
}

TEST(NormsStudy, GroupsPositions) {
  ToyModel model;
  // The toy's ||key|| is position + 1. Positions 1 and 4 are sinks.
  const v1::StudyReport report = RunToy("norms {}", model, {{0, 1, 2, 2, 1, 4}});
  const v1::NormsRow& row = report.norms().rows()[2];
  EXPECT_EQ(row.block(), 2);
  EXPECT_EQ(ValueOf(row.primary().key()), 1);
  EXPECT_EQ(row.primary().key().n(), 1);
  EXPECT_NEAR(*ValueOf(row.primary().state()), std::sqrt(10202.0), 1e-4);
  EXPECT_EQ(ValueOf(row.secondary().key()), 3.5);
  EXPECT_EQ(ValueOf(row.secondary().value()), 35);
  EXPECT_NEAR(row.secondary().state_median(), std::sqrt(905.0), 1e-5);
  EXPECT_EQ(row.rest().key().n(), 3);
  EXPECT_NEAR(*ValueOf(row.rest().key()), 13.0 / 3, 1e-12);
  EXPECT_EQ(row.rest().key_median(), 4);
  EXPECT_EQ(row.rest().value_median(), 40);
}

TEST(NormsStudy, SaysWhichGroupIsEmpty) {
  ToyModel model;
  const v1::StudyReport report = RunToy("norms {}", model, {{0}});
  const v1::NormsRow& row = report.norms().rows()[0];
  EXPECT_EQ(row.secondary().key().undefined(), "no secondary sinks");
  EXPECT_EQ(row.rest().state().undefined(), "no other positions");
  EXPECT_FALSE(row.rest().has_state_median());
}

TEST(NormsStudy, DrawsPositionsForMediansOfManyMore) {
  ToyModel model;
  TokenIds ids(100000, 2);
  ids[0] = 0;
  const v1::StudyReport report = RunToy("norms {}", model, {ids});
  const v1::NormsRow& row = report.norms().rows()[0];
  EXPECT_EQ(row.rest().key().n(), 99999);
  EXPECT_NEAR(*ValueOf(row.rest().key()), 50001, 1e-6);
  // The median of 65,536 out of 99,999 ranks: five standard deviations are under 700.
  EXPECT_NEAR(row.rest().key_median(), 50001, 700);
  EXPECT_NE(row.rest().key_median(), 50001);
}

TEST(MassiveStudy, MergesTheLargestEntriesOfAllSamples) {
  ToyModel model;
  const v1::StudyReport report = RunToy("massive { top: 3 }", model, {{0, 2, 1}, {0, 3}});
  const auto& rows = report.massive().rows();
  ASSERT_EQ(rows.size(), 6u);
  const v1::MassiveRow& row = rows[3];
  EXPECT_FALSE(row.has_sample_index());
  ASSERT_EQ(row.entries().size(), 3);
  // Both primary sinks have 102 there, the sink that starts at 3 has 40.
  EXPECT_EQ(row.entries()[0].sample_index(), 10);
  EXPECT_EQ(row.entries()[1].sample_index(), 20);
  EXPECT_EQ(row.entries()[1].value(), 102);
  EXPECT_EQ(row.entries()[2].value(), 40);
  EXPECT_EQ(row.entries()[2].position(), 1);
  EXPECT_EQ(row.entries()[2].token_id(), 3);
  EXPECT_EQ(row.entries()[2].token_text(), "token 3");
  EXPECT_EQ(row.entries()[2].channel(), 0);
  EXPECT_EQ(row.largest_of_rest(), 2);
}

TEST(MassiveStudy, SendsSamplesWhenAsked) {
  ToyModel model;
  const v1::StudyReport report = RunToy("massive { per_sample: true }", model, {{0, 2, 1}, {0, 3}});
  const auto& rows = report.massive().rows();
  ASSERT_EQ(rows.size(), 18u);
  EXPECT_EQ(rows[6].sample_index(), 10);
  EXPECT_EQ(rows[6].block(), 0);
  EXPECT_EQ(rows[17].sample_index(), 20);
  EXPECT_EQ(rows[17].block(), 5);
}

}  // namespace
}  // namespace sinkd
