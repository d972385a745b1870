// Defaults and limits of studies' requests.
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/mechanism/study.h"
#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

constexpr int64_t kBlocks = 12;

struct Case {
  std::string request;
  std::string subject;  // empty: valid
};

class StudyRequests : public testing::TestWithParam<Case> {};

TEST_P(StudyRequests, NameTheFieldOutOfItsLimits) {
  const absl::Status status = CheckStudy(Ask(GetParam().request), kBlocks);
  if (GetParam().subject.empty()) {
    EXPECT_TRUE(status.ok()) << status;
    return;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->subject, GetParam().subject);
  EXPECT_FALSE(GetErrorDetail(status)->fix.empty());
}

INSTANTIATE_TEST_SUITE_P(Defaults, StudyRequests,
                         testing::Values(Case{"align {}"}, Case{"pca {}"}, Case{"cluster {}"},
                                         Case{"swap {}"}, Case{"steer {}"}, Case{"entropy {}"},
                                         Case{"norms {}"}, Case{"massive {}"}, Case{"", "study"}));

INSTANTIATE_TEST_SUITE_P(
    Shared, StudyRequests,
    testing::Values(Case{"norms {} targets { l_start: 11 }"},
                    Case{"norms {} targets { l_start: 12 }", "targets.l_start"},
                    Case{"norms {} targets { l_start: -1 }", "targets.l_start"},
                    Case{"norms {} targets { limit: 0 }", "targets.limit"},
                    Case{"norms {} targets { limit: 5000 }"},
                    Case{"norms {} targets { limit: 5001 }", "targets.limit"},
                    Case{"norms {} targets { kinds: 0 }", "targets.kinds[0]"},
                    Case{"norms {} targets { kinds: [1, 9] }", "targets.kinds[1]"},
                    Case{"norms {} time_budget_seconds: 0", "time_budget_seconds"},
                    Case{"norms {} time_budget_seconds: 1e300", "time_budget_seconds"},
                    Case{"norms {} time_budget_seconds: nan", "time_budget_seconds"}));

INSTANTIATE_TEST_SUITE_P(
    Own, StudyRequests,
    testing::Values(
        Case{"pca { block: -1 }", "pca.block"}, Case{"pca { block: 12 }", "pca.block"},
        Case{"pca { components: 101 }", "pca.components"},
        Case{"pca { scales: [1, 0] }", "pca.scales[1]"},
        Case{"pca { scales: nan }", "pca.scales[0]"},
        Case{"pca { scales: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17] }", "pca.scales"},
        Case{"pca { effective_cosine: 1 }", "pca.effective_cosine"},
        Case{"cluster { blocks_before: 201 }", "cluster.blocks_before"},
        Case{"cluster { sites: 77 }", "cluster.sites[0]"},
        Case{"cluster { sites: [SITE_UP, SITE_UP] }", "cluster.sites[1]"},
        Case{"cluster { tsne_sites: 0 }", "cluster.tsne_sites[0]"},
        Case{"cluster { perplexity: 0.5 }", "cluster.perplexity"},
        Case{"cluster { separating_auc: 0.5 }", "cluster.separating_auc"},
        Case{"cluster { separating_auc: 1 }"},
        Case{"targets { limit: 2501 } cluster { tsne_sites: SITE_UP }", "targets.limit"},
        Case{"swap { blocks: [0, 12] }", "swap.blocks[1]"},
        Case{"swap { blocks: [3, 3] }", "swap.blocks[1]"},
        Case{"swap { sites: SITE_MLP_IN }", "swap.sites[0]"},
        Case{"swap { controls_per_sample: 1001 }", "swap.controls_per_sample"},
        Case{"steer { taus: -1 }", "steer.taus[0]"}, Case{"steer { mode: 5 }", "steer.mode"},
        Case{"steer { mode: STEER_MODE_UNSPECIFIED }"},
        Case{"steer { cosine_threshold: 0 }", "steer.cosine_threshold"},
        Case{"entropy { alpha: 0 }", "entropy.alpha"},
        Case{"entropy { alpha: nan }", "entropy.alpha"},
        Case{"entropy { first: -1 }", "entropy.first"},
        Case{"entropy { first: 4 end: 4 }", "entropy.end"},
        Case{"massive { top: 0 }", "massive.top"}));

TEST(StudyRequest, ADetectionOutOfItsLimitsIsNamed) {
  v1::RunStudyRequest request = Ask("norms {}");
  request.mutable_detection()->set_cosine_threshold(1);
  const absl::Status status = CheckStudy(request, kBlocks);
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->subject, "detection.cosine_threshold");
}

TEST(StudyRequest, HasTheDefaultsThatTheCommentsOfTheProtocolPromise) {
  const auto filled = [](const std::string& text) { return Ask(text); };
  EXPECT_TRUE(filled("norms {}").has_seed());
  EXPECT_EQ(filled("norms {}").targets().ShortDebugString(),
            "kinds: SINK_KIND_SECONDARY limit: 2000");
  EXPECT_EQ(filled("pca {}").pca().ShortDebugString(),
            "components: 10 scales: 0.5 scales: 1 scales: 2 effective_cosine: 0.98");
  EXPECT_EQ(filled("cluster {}").cluster().ShortDebugString(),
            "blocks_before: 5 sites: SITE_RESID_PRE sites: SITE_ATTN_OUT sites: SITE_MLP_IN "
            "sites: SITE_MLP_OUT separating_auc: 0.95");
  EXPECT_EQ(filled("swap {}").swap().ShortDebugString(),
            "sites: SITE_RESID_POST sites: SITE_ATTN_OUT sites: SITE_MLP_OUT "
            "controls_per_sample: 64 loss: false");
  EXPECT_EQ(filled("steer {}").steer().ShortDebugString(),
            "mode: STEER_MODE_SET cosine_threshold: 0.98 loss: true");
  EXPECT_EQ(filled("entropy {}").entropy().ShortDebugString(), "alpha: 1 first: 0");
  EXPECT_EQ(filled("massive {}").massive().ShortDebugString(), "top: 3 per_sample: false");
  EXPECT_EQ(filled("align {}").align().ShortDebugString(), "points: false");
}

TEST(StudyRequest, KeepsWhatItSays) {
  EXPECT_EQ(Ask("swap { sites: SITE_MLP_OUT loss: true }").swap().ShortDebugString(),
            "sites: SITE_MLP_OUT controls_per_sample: 64 loss: true");
}

}  // namespace
}  // namespace sinkd
