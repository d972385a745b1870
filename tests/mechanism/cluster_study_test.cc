#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// Ten targets and ten controls of one embedding, told apart by what the MLP of block 2 writes.
const std::vector<TokenIds> kSamples(10, TokenIds{0, 1, 2});

const ClusterRow& RowOf(const ClusterReport& report, int32_t block, Site site) {
  for (const ClusterRow& row : report.rows) {
    if (row.block == block && row.site == site) return row;
  }
  ADD_FAILURE() << "no such row";
  static const ClusterRow none;
  return none;
}

class Cluster : public testing::Test {
 protected:
  ClusterReport Run(const ClusterParameters& cluster,
                    const std::vector<TokenIds>& samples = kSamples) {
    report_ = RunToy({.study = cluster}, model_, samples);
    return std::get<ClusterReport>(report_.findings);
  }
  ToyModel model_;
  StudyReport report_;
};

TEST_F(Cluster, SeesWhereTargetsAndControlsPart) {
  const ClusterReport report = Run({.sites = {Site::kMlpIn, Site::kMlpOut}});
  EXPECT_EQ(report.rows.size(), 6u);
  EXPECT_EQ(report_.targets, 10);
  EXPECT_EQ(report_.controls, 10);
  const ClusterRow& apart = RowOf(report, 2, Site::kMlpOut);
  EXPECT_EQ(apart.adjusted_rand, 1);
  EXPECT_EQ(apart.silhouette, 1);
  EXPECT_EQ(apart.auc, 1);
  // All rows are the same there: nothing tells them apart.
  const ClusterRow& same = RowOf(report, 2, Site::kMlpIn);
  EXPECT_EQ(same.adjusted_rand, 0);
  EXPECT_EQ(same.silhouette, 0);
  EXPECT_EQ(same.auc, 0.5);
}

TEST_F(Cluster, NamesTheEarliestBlockFromWhichASiteStaysApart) {
  const ClusterReport report = Run({.block = 3, .sites = {Site::kResidPost, Site::kMlpIn}});
  ASSERT_EQ(report.decision_layers.size(), 2u);
  EXPECT_EQ(report.decision_layers[0].site, Site::kResidPost);
  EXPECT_EQ(report.decision_layers[0].block, 2);
  EXPECT_EQ(report.decision_layers[1].block, 3);
  EXPECT_EQ(report.decision_layer, 2);
  EXPECT_EQ(report.decision_site, Site::kResidPost);
}

TEST_F(Cluster, TakesTheFirstSiteOfABlockOfSeveral) {
  const ClusterReport report = Run({.sites = {Site::kResidPost, Site::kMlpOut}});
  EXPECT_EQ(report.decision_layer, 2);
  EXPECT_EQ(report.decision_site, Site::kMlpOut);
}

TEST_F(Cluster, HasNoDecisionWhereASiteDoesNotStayApart) {
  // What the MLP of block 3 writes is nothing for both.
  const ClusterReport report = Run({.block = 3, .sites = {Site::kMlpOut}});
  EXPECT_EQ(RowOf(report, 2, Site::kMlpOut).auc, 1);
  EXPECT_FALSE(report.decision_layers[0].block.has_value());
  EXPECT_FALSE(report.decision_layer.has_value());
}

TEST_F(Cluster, LooksAtTheBlocksBeforeItsLast) {
  const ClusterReport report = Run({.block = 4, .blocks_before = 1, .sites = {Site::kMlpIn}});
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].block, 3);
  EXPECT_EQ(report.rows[1].block, 4);
}

TEST_F(Cluster, DrawsMapsOfTheSitesAsked) {
  const ClusterReport report =
      Run({.blocks_before = 1, .sites = {Site::kMlpIn}, .tsne_sites = {Site::kResidPost}});
  EXPECT_EQ(report.rows.size(), 2u);
  ASSERT_EQ(report.maps.size(), 2u);
  const TsneMap& map = report.maps[1];
  EXPECT_EQ(map.block, 2);
  EXPECT_EQ(map.site, Site::kResidPost);
  EXPECT_NEAR(map.perplexity, 19.0 / 3, 1e-12);
  ASSERT_EQ(map.coordinates.size(), 40u);
  for (const float value : map.coordinates) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(Cluster, SaysWhichRowsHaveNoNumbers) {
  EXPECT_EQ(Run({}, {{0, 2, 4}}).undefined, "no targets");
  const ClusterReport report = Run({}, {{0, 1, 2}, {0, 1, 2}});
  EXPECT_EQ(report.rows[0].undefined, "fewer than 5 targets");
  EXPECT_FALSE(report.decision_layer.has_value());
}

TEST_F(Cluster, ReportsTheRowsItHadTimeForWithoutADecision) {
  auto study = NewStudy({.study = ClusterParameters{.sites = {Site::kMlpOut}}}, model_,
                        ToySamples(kSamples));
  while (study->progress().phase != "compare") ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  const StudyReport partial = study->Report("out of time");
  EXPECT_EQ(partial.samples, 10);
  const auto& report = std::get<ClusterReport>(partial.findings);
  EXPECT_EQ(report.rows.size(), 1u);
  EXPECT_TRUE(report.decision_layers.empty());
}

}  // namespace
}  // namespace sinkd
