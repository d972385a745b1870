#include "server/mechanism/study_parameters.h"

#include <algorithm>
#include <cmath>

#include <absl/strings/str_cat.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"

namespace sinkd {
namespace {

constexpr int64_t kMostTargets = 5000;
constexpr int64_t kMostScales = 16;
constexpr double kLargestScale = 1000;
constexpr int64_t kMostTaus = 64;
constexpr double kLargestTau = 1e9;
constexpr double kLargestOrder = 100;
constexpr Site kStudySites[] = {Site::kResidPre, Site::kAttnOut, Site::kMlpIn,
                                Site::kGate,     Site::kUp,      Site::kAct,
                                Site::kProduct,  Site::kMlpOut,  Site::kResidPost};
constexpr Site kEditSites[] = {Site::kResidPost, Site::kAttnOut, Site::kMlpOut};

absl::Status CheckBlock(const std::string& field, std::optional<int32_t> block, int64_t blocks) {
  return block ? CheckRange(field, *block, 0, blocks - 1) : absl::OkStatus();
}

absl::Status CheckCosine(const std::string& field, double value) {
  return CheckParameter(value > 0 && value < 1, field, value, "over 0 and under 1");
}

absl::Status CheckSites(const std::string& field, std::span<const Site> sites,
                        std::span<const Site> known) {
  for (size_t i = 0; i < sites.size(); ++i) {
    const bool fits =
        std::find(known.begin(), known.end(), sites[i]) != known.end() &&
        std::find(sites.begin(), sites.end(), sites[i]) - sites.begin() == std::ptrdiff_t(i);
    SINKD_RETURN_IF_ERROR(CheckParameter(fits, absl::StrCat(field, "[", i, "]"),
                                         static_cast<int>(sites[i]),
                                         "a site that can be used here, named once"));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const std::string& field, size_t count, int64_t least, int64_t most) {
  return CheckParameter(static_cast<int64_t>(count) >= least && static_cast<int64_t>(count) <= most,
                        field, count, absl::StrCat("a list of ", least, " to ", most));
}

absl::Status ValidateTargets(const TargetFilter& p, int64_t blocks) {
  SINKD_RETURN_IF_ERROR(CheckCount("targets.kinds", p.kinds.size(), 1, 3));
  SINKD_RETURN_IF_ERROR(CheckBlock("targets.l_start", p.l_start, blocks));
  return CheckRange("targets.limit", p.limit, 1, kMostTargets);
}

// Checks a study's own parameters.
struct Checker {
  const StudyParameters& parameters;
  int64_t blocks = 0;

  absl::Status operator()(const AlignParameters&) const { return absl::OkStatus(); }
  absl::Status operator()(const NormsParameters&) const { return absl::OkStatus(); }

  absl::Status operator()(const PcaParameters& p) const {
    SINKD_RETURN_IF_ERROR(CheckBlock("pca.block", p.block, blocks));
    SINKD_RETURN_IF_ERROR(CheckRange("pca.components", p.components, 1, 100));
    SINKD_RETURN_IF_ERROR(CheckCount("pca.scales", p.scales.size(), 1, kMostScales));
    for (size_t i = 0; i < p.scales.size(); ++i) {
      SINKD_RETURN_IF_ERROR(CheckParameter(p.scales[i] > 0 && p.scales[i] <= kLargestScale,
                                           absl::StrCat("pca.scales[", i, "]"), p.scales[i],
                                           "over 0 and at most 1000"));
    }
    return CheckCosine("pca.effective_cosine", p.effective_cosine);
  }

  absl::Status operator()(const ClusterParameters& p) const {
    SINKD_RETURN_IF_ERROR(CheckBlock("cluster.block", p.block, blocks));
    SINKD_RETURN_IF_ERROR(CheckRange("cluster.blocks_before", p.blocks_before, 0, 200));
    SINKD_RETURN_IF_ERROR(CheckSites("cluster.sites", p.sites, kStudySites));
    SINKD_RETURN_IF_ERROR(CheckCount("cluster.sites", p.sites.size(), 1, std::ssize(kStudySites)));
    SINKD_RETURN_IF_ERROR(CheckSites("cluster.tsne_sites", p.tsne_sites, kStudySites));
    if (!p.tsne_sites.empty()) {
      // Targets and as many controls make one map.
      SINKD_RETURN_IF_ERROR(CheckParameter(
          parameters.targets.limit <= kTsneRows / 2, "targets.limit", parameters.targets.limit,
          absl::StrCat("at most ", kTsneRows / 2, " with cluster.tsne_sites")));
    }
    if (p.perplexity) {
      SINKD_RETURN_IF_ERROR(CheckParameter(*p.perplexity >= 1 && *p.perplexity <= 500,
                                           "cluster.perplexity", *p.perplexity, "from 1 to 500"));
    }
    return CheckParameter(p.separating_auc > 0.5 && p.separating_auc <= 1, "cluster.separating_auc",
                          p.separating_auc, "over 0.5 and at most 1");
  }

  absl::Status operator()(const SwapParameters& p) const {
    SINKD_RETURN_IF_ERROR(CheckCount("swap.blocks", p.blocks.size(), 0, blocks));
    for (size_t i = 0; i < p.blocks.size(); ++i) {
      const std::string field = absl::StrCat("swap.blocks[", i, "]");
      SINKD_RETURN_IF_ERROR(CheckBlock(field, p.blocks[i], blocks));
      const bool once = std::count(p.blocks.begin(), p.blocks.end(), p.blocks[i]) == 1;
      SINKD_RETURN_IF_ERROR(CheckParameter(once, field, p.blocks[i], "a block named once"));
    }
    SINKD_RETURN_IF_ERROR(CheckSites("swap.sites", p.sites, kEditSites));
    SINKD_RETURN_IF_ERROR(CheckCount("swap.sites", p.sites.size(), 1, std::ssize(kEditSites)));
    return CheckRange("swap.controls_per_sample", p.controls_per_sample, 1, 1000);
  }

  absl::Status operator()(const SteerParameters& p) const {
    SINKD_RETURN_IF_ERROR(CheckBlock("steer.block", p.block, blocks));
    SINKD_RETURN_IF_ERROR(CheckCount("steer.taus", p.taus.size(), 0, kMostTaus));
    for (size_t i = 0; i < p.taus.size(); ++i) {
      SINKD_RETURN_IF_ERROR(CheckParameter(p.taus[i] >= 0 && p.taus[i] <= kLargestTau,
                                           absl::StrCat("steer.taus[", i, "]"), p.taus[i],
                                           "from 0 to 1e9"));
    }
    SINKD_RETURN_IF_ERROR(CheckParameter(p.mode == SteerMode::kSet || p.mode == SteerMode::kClip,
                                         "steer.mode", static_cast<int>(p.mode), "set or clip"));
    return CheckCosine("steer.cosine_threshold", p.cosine_threshold);
  }

  absl::Status operator()(const EntropyParameters& p) const {
    SINKD_RETURN_IF_ERROR(CheckParameter(p.alpha > 0 && p.alpha <= kLargestOrder, "entropy.alpha",
                                         p.alpha, "over 0 and at most 100"));
    SINKD_RETURN_IF_ERROR(CheckParameter(p.first >= 0, "entropy.first", p.first, "at least 0"));
    return CheckParameter(!p.end || *p.end > p.first, "entropy.end", p.end.value_or(0),
                          absl::StrCat("over entropy.first, ", p.first));
  }

  absl::Status operator()(const MassiveParameters& p) const {
    return CheckRange("massive.top", p.top, 1, 100);
  }
};

}  // namespace

absl::Status Validate(const StudyParameters& parameters, int64_t blocks) {
  SINKD_RETURN_IF_ERROR(ValidateDetection(parameters.detection, "detection"));
  SINKD_RETURN_IF_ERROR(ValidateTargets(parameters.targets, blocks));
  return std::visit(Checker{parameters, blocks}, parameters.study);
}

}  // namespace sinkd
