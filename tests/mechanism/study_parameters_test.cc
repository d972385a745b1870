#include "server/mechanism/study_parameters.h"

#include <limits>
#include <ostream>

#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr int64_t kBlocks = 12;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  StudyParameters parameters;
  std::string subject;  // empty: valid
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << (c.subject.empty() ? "ok" : c.subject);
}

class StudyParametersCheck : public testing::TestWithParam<Case> {};

TEST_P(StudyParametersCheck, NamesTheFieldOutOfItsLimits) {
  const absl::Status status = Validate(GetParam().parameters, kBlocks);
  if (GetParam().subject.empty()) {
    EXPECT_TRUE(status.ok()) << status;
    return;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->subject, GetParam().subject);
}

Case Of(StudyChoice study, std::string subject = "") {
  return {{.study = std::move(study)}, std::move(subject)};
}
Case OfTargets(TargetFilter targets, std::string subject = "") {
  return {{.targets = std::move(targets), .study = AlignParameters{}}, std::move(subject)};
}

INSTANTIATE_TEST_SUITE_P(Defaults, StudyParametersCheck,
                         testing::Values(Of(AlignParameters{}), Of(PcaParameters{}),
                                         Of(ClusterParameters{}), Of(SwapParameters{}),
                                         Of(SteerParameters{}), Of(EntropyParameters{}),
                                         Of(NormsParameters{}), Of(MassiveParameters{})));

INSTANTIATE_TEST_SUITE_P(
    Shared, StudyParametersCheck,
    testing::Values(Case{{.detection = {.cosine_threshold = 1}}, "detection.cosine_threshold"},
                    OfTargets({.kinds = {}}, "targets.kinds"), OfTargets({.l_start = 11}),
                    OfTargets({.l_start = 12}, "targets.l_start"),
                    OfTargets({.limit = 0}, "targets.limit"), OfTargets({.limit = 5000}),
                    OfTargets({.limit = 5001}, "targets.limit")));

INSTANTIATE_TEST_SUITE_P(
    Own, StudyParametersCheck,
    testing::Values(
        Of(PcaParameters{.block = -1}, "pca.block"), Of(PcaParameters{.block = 12}, "pca.block"),
        Of(PcaParameters{.components = 101}, "pca.components"),
        Of(PcaParameters{.scales = {}}, "pca.scales"),
        Of(PcaParameters{.scales = {1, 0}}, "pca.scales[1]"),
        Of(PcaParameters{.scales = {kNan}}, "pca.scales[0]"),
        Of(PcaParameters{.effective_cosine = 1}, "pca.effective_cosine"),
        Of(ClusterParameters{.blocks_before = 201}, "cluster.blocks_before"),
        Of(ClusterParameters{.sites = {}}, "cluster.sites"),
        Of(ClusterParameters{.sites = {Site::kKey}}, "cluster.sites[0]"),
        Of(ClusterParameters{.sites = {Site::kUp, Site::kUp}}, "cluster.sites[1]"),
        Of(ClusterParameters{.tsne_sites = {Site::kFinalNorm}}, "cluster.tsne_sites[0]"),
        Of(ClusterParameters{.perplexity = 0.5}, "cluster.perplexity"),
        Of(ClusterParameters{.separating_auc = 0.5}, "cluster.separating_auc"),
        Of(ClusterParameters{.separating_auc = 1}),
        Case{{.targets = {.limit = 2501}, .study = ClusterParameters{.tsne_sites = {Site::kUp}}},
             "targets.limit"},
        Of(SwapParameters{.blocks = {0, 12}}, "swap.blocks[1]"),
        Of(SwapParameters{.blocks = {3, 3}}, "swap.blocks[0]"),
        Of(SwapParameters{.sites = {Site::kMlpIn}}, "swap.sites[0]"),
        Of(SwapParameters{.controls_per_sample = 1001}, "swap.controls_per_sample"),
        Of(SteerParameters{.taus = {-1}}, "steer.taus[0]"),
        Of(SteerParameters{.taus = std::vector<double>(65, 1.0)}, "steer.taus"),
        Of(SteerParameters{.cosine_threshold = 0}, "steer.cosine_threshold"),
        Of(EntropyParameters{.alpha = 0}, "entropy.alpha"),
        Of(EntropyParameters{.alpha = kNan}, "entropy.alpha"),
        Of(EntropyParameters{.first = -1}, "entropy.first"),
        Of(EntropyParameters{.first = 4, .end = 4}, "entropy.end"),
        Of(MassiveParameters{.top = 0}, "massive.top")));

}  // namespace
}  // namespace sinkd
