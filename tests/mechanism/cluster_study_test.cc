#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

// Ten targets and ten controls of one embedding, told apart by what the MLP of block 2 writes.
const std::vector<TokenIds> kSamples(10, TokenIds{0, 1, 2});

const v1::ClusterRow& RowOf(const v1::ClusterReport& report, int32_t block, v1::Site site) {
  for (const v1::ClusterRow& row : report.rows()) {
    if (row.block() == block && row.site() == site) return row;
  }
  ADD_FAILURE() << "no such row";
  static const v1::ClusterRow none;
  return none;
}

class Cluster : public testing::Test {
 protected:
  v1::ClusterReport Run(const std::string& cluster,
                        const std::vector<TokenIds>& samples = kSamples) {
    report_ = RunToy("cluster { " + cluster + " }", model_, samples);
    return report_.cluster();
  }
  ToyModel model_;
  v1::StudyReport report_;
};

TEST_F(Cluster, SeesWhereTargetsAndControlsPart) {
  const v1::ClusterReport report = Run("sites: [SITE_MLP_IN, SITE_MLP_OUT]");
  EXPECT_EQ(report.rows().size(), 6);
  EXPECT_EQ(report_.targets(), 10);
  EXPECT_EQ(report_.controls(), 10);
  const v1::ClusterRow& apart = RowOf(report, 2, v1::SITE_MLP_OUT);
  EXPECT_EQ(apart.adjusted_rand(), 1);
  EXPECT_EQ(apart.silhouette(), 1);
  EXPECT_EQ(apart.auc(), 1);
  // All rows are the same there: nothing tells them apart.
  const v1::ClusterRow& same = RowOf(report, 2, v1::SITE_MLP_IN);
  EXPECT_EQ(same.adjusted_rand(), 0);
  EXPECT_EQ(same.silhouette(), 0);
  EXPECT_EQ(same.auc(), 0.5);
}

TEST_F(Cluster, NamesTheEarliestBlockFromWhichASiteStaysApart) {
  const v1::ClusterReport report = Run("block: 3 sites: [SITE_RESID_POST, SITE_MLP_IN]");
  ASSERT_EQ(report.decision_layers().size(), 2);
  EXPECT_EQ(report.decision_layers()[0].site(), v1::SITE_RESID_POST);
  EXPECT_EQ(report.decision_layers()[0].block(), 2);
  EXPECT_EQ(report.decision_layers()[1].block(), 3);
  EXPECT_EQ(report.decision_layer(), 2);
  EXPECT_EQ(report.decision_site(), v1::SITE_RESID_POST);
}

TEST_F(Cluster, TakesTheFirstSiteOfABlockOfSeveral) {
  const v1::ClusterReport report = Run("sites: [SITE_RESID_POST, SITE_MLP_OUT]");
  EXPECT_EQ(report.decision_layer(), 2);
  EXPECT_EQ(report.decision_site(), v1::SITE_MLP_OUT);
}

TEST_F(Cluster, HasNoDecisionWhereASiteDoesNotStayApart) {
  // What the MLP of block 3 writes is nothing for both.
  const v1::ClusterReport report = Run("block: 3 sites: [SITE_MLP_OUT]");
  EXPECT_EQ(RowOf(report, 2, v1::SITE_MLP_OUT).auc(), 1);
  EXPECT_FALSE(report.decision_layers()[0].has_block());
  EXPECT_FALSE(report.has_decision_layer());
}

TEST_F(Cluster, LooksAtTheBlocksBeforeItsLast) {
  const v1::ClusterReport report = Run("block: 4 blocks_before: 1 sites: [SITE_MLP_IN]");
  ASSERT_EQ(report.rows().size(), 2);
  EXPECT_EQ(report.rows()[0].block(), 3);
  EXPECT_EQ(report.rows()[1].block(), 4);
}

TEST_F(Cluster, DrawsMapsOfTheSitesAsked) {
  const v1::ClusterReport report =
      Run("blocks_before: 1 sites: [SITE_MLP_IN] tsne_sites: [SITE_RESID_POST]");
  EXPECT_EQ(report.rows().size(), 2);
  ASSERT_EQ(report.maps().size(), 2);
  const v1::TsneMap& map = report.maps()[1];
  EXPECT_EQ(map.block(), 2);
  EXPECT_EQ(map.site(), v1::SITE_RESID_POST);
  EXPECT_NEAR(map.perplexity(), 19.0 / 3, 1e-12);
  ASSERT_EQ(map.coordinates().size(), 40);
  for (const float value : map.coordinates()) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(Cluster, GivesTheDeviceToOthersWhileItDrawsAMap) {
  auto study = NewStudy(Ask("cluster { block: 2 blocks_before: 0 sites: [SITE_MLP_IN] tsne_sites: "
                            "[SITE_RESID_POST] }"),
                        model_, ToySamples(kSamples));
  while (study->progress().phase != "compare") ASSERT_TRUE(study->Step({}).ok());
  EXPECT_EQ(study->progress().total, 2);
  while (study->progress().done == 0) ASSERT_TRUE(study->Step({}).ok());
  int64_t turns = 0;
  for (; !study->done(); ++turns) ASSERT_TRUE(study->Step({}).ok());
  EXPECT_GT(turns, 10);
  EXPECT_EQ(study->Report("").cluster().maps().size(), 1);
}

TEST_F(Cluster, StopsBetweenTwoTurnsOfAMap) {
  auto study = NewStudy(Ask("cluster { sites: [SITE_RESID_POST] tsne_sites: [SITE_RESID_POST] }"),
                        model_, ToySamples(kSamples));
  while (study->progress().phase != "compare") ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(study->Step(stop.get_token()).code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(study->Report("out of time").cluster().maps().empty());
}

TEST_F(Cluster, SaysWhichRowsHaveNoNumbers) {
  EXPECT_EQ(Run("", {{0, 2, 4}}).undefined(), "no targets");
  const v1::ClusterReport report = Run("", {{0, 1, 2}, {0, 1, 2}});
  EXPECT_EQ(report.rows()[0].undefined(), "fewer than 5 targets");
  EXPECT_FALSE(report.has_decision_layer());
}

TEST_F(Cluster, ReportsTheRowsItHadTimeForWithoutADecision) {
  auto study = NewStudy(Ask("cluster { sites: [SITE_MLP_OUT] }"), model_, ToySamples(kSamples));
  while (study->progress().phase != "compare") ASSERT_TRUE(study->Step({}).ok());
  while (study->progress().done == 0) ASSERT_TRUE(study->Step({}).ok());
  const v1::StudyReport partial = study->Report("out of time");
  EXPECT_EQ(partial.samples(), 10);
  const auto& report = partial.cluster();
  EXPECT_EQ(report.rows().size(), 1);
  EXPECT_TRUE(report.decision_layers().empty());
}

}  // namespace
}  // namespace sinkd
