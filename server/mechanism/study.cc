#include "server/mechanism/study.h"

#include <type_traits>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/analysis/parameter_rules.h"
#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"
#include "server/mechanism/ablate_study.h"
#include "server/mechanism/align_study.h"
#include "server/mechanism/cluster_study.h"
#include "server/mechanism/entropy_study.h"
#include "server/mechanism/massive_study.h"
#include "server/mechanism/norms_study.h"
#include "server/mechanism/pca_study.h"
#include "server/mechanism/steer_study.h"
#include "server/mechanism/swap_study.h"

namespace sinkd {
namespace {

absl::Status NoStudy() {
  return InvalidArgument(
      "the request names no study",
      {.reason = "STUDY_MISSING",
       .subject = "study",
       .fix = "set one of align, pca, cluster, swap, steer, entropy, norms, massive, ablate"});
}

}  // namespace

void FillStudyDefaults(v1::RunStudyRequest& request) {
  request.mutable_detection();
  request.mutable_targets();
  FillDefaults(request);
}

absl::Status CheckStudy(const v1::RunStudyRequest& request, int64_t blocks) {
  if (request.study_case() == v1::RunStudyRequest::STUDY_NOT_SET) return NoStudy();
  SINKD_RETURN_IF_ERROR(CheckParameters(request, "", blocks));
  // Targets and as many controls make one map.
  const int64_t limit = request.targets().limit();
  const bool one_map = request.cluster().tsne_sites().empty() || limit <= kTsneRows / 2;
  SINKD_RETURN_IF_ERROR(
      CheckParameter(one_map, "targets.limit", limit,
                     absl::StrCat("at most ", kTsneRows / 2, " with cluster.tsne_sites")));
  const v1::EntropyParameters& window = request.entropy();
  return CheckParameter(!window.has_end() || window.end() > window.first(), "entropy.end",
                        window.end(), absl::StrCat("over entropy.first, ", window.first()));
}

std::unique_ptr<Study> NewStudy(v1::RunStudyRequest request, const StudyModel& model,
                                std::vector<StudySample> samples) {
  const auto make = [&]<typename Kind>(std::type_identity<Kind>) -> std::unique_ptr<Study> {
    return std::make_unique<Kind>(std::move(request), model, std::move(samples));
  };
  switch (request.study_case()) {
    case v1::RunStudyRequest::kAlign:
      return make(std::type_identity<AlignStudy>());
    case v1::RunStudyRequest::kPca:
      return make(std::type_identity<PcaStudy>());
    case v1::RunStudyRequest::kCluster:
      return make(std::type_identity<ClusterStudy>());
    case v1::RunStudyRequest::kSwap:
      return make(std::type_identity<SwapStudy>());
    case v1::RunStudyRequest::kSteer:
      return make(std::type_identity<SteerStudy>());
    case v1::RunStudyRequest::kEntropy:
      return make(std::type_identity<EntropyStudy>());
    case v1::RunStudyRequest::kNorms:
      return make(std::type_identity<NormsStudy>());
    case v1::RunStudyRequest::kMassive:
      return make(std::type_identity<MassiveStudy>());
    case v1::RunStudyRequest::kAblate:
      return make(std::type_identity<AblateStudy>());
    case v1::RunStudyRequest::STUDY_NOT_SET:
      break;
  }
  return nullptr;
}

}  // namespace sinkd
