// What a caller can choose about a study; defaults as in definitions, Formation. A value that
// depends on the samples (a block, norms to try) is absent until the study has found its sinks.
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <absl/status/status.h>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/site.h"

namespace sinkd {

struct TargetFilter {
  std::vector<SinkKind> kinds = {SinkKind::kSecondary};
  std::optional<int32_t> l_start;
  std::vector<int32_t> token_ids;  // empty: all
  int64_t limit = 2000;            // 1 to 5000, over all samples
};

struct AlignParameters {
  bool points = false;
};

struct PcaParameters {
  std::optional<int32_t> block;
  int64_t components = 10;                       // 1 to 100
  std::vector<double> scales = {0.5, 1.0, 2.0};  // each in (0, 1000], 16 at most
  double effective_cosine = 0.98;                // in (0, 1)
};

struct ClusterParameters {
  std::optional<int32_t> block;
  int64_t blocks_before = 5;  // 0 to 200
  std::vector<Site> sites = {Site::kResidPre, Site::kAttnOut, Site::kMlpIn, Site::kMlpOut};
  std::vector<Site> tsne_sites;
  std::optional<double> perplexity;  // 1 to 500
  double separating_auc = 0.95;      // in (0.5, 1]
};

struct SwapParameters {
  std::vector<int32_t> blocks;  // empty: the 6 up to the targets' l_start
  std::vector<Site> sites = {Site::kResidPost, Site::kAttnOut, Site::kMlpOut};
  int64_t controls_per_sample = 64;  // 1 to 1000
  bool loss = false;
};

enum class SteerMode { kSet, kClip };

struct SteerParameters {
  std::optional<int32_t> block;
  std::vector<double> taus;  // each in [0, 1e9], 64 at most; empty: multiples of the mean norm
  SteerMode mode = SteerMode::kSet;
  double cosine_threshold = 0.98;  // in (0, 1)
  bool loss = true;
};

struct EntropyParameters {
  double alpha = 1;  // in (0, 100]
  int64_t first = 0;
  std::optional<int64_t> end;  // past first
};

struct NormsParameters {};

struct MassiveParameters {
  int64_t top = 3;  // 1 to 100
  bool per_sample = false;
};

using StudyChoice =
    std::variant<AlignParameters, PcaParameters, ClusterParameters, SwapParameters, SteerParameters,
                 EntropyParameters, NormsParameters, MassiveParameters>;

struct StudyParameters {
  DetectionParameters detection;
  TargetFilter targets;
  uint64_t seed = 0;
  StudyChoice study;
};

// INVALID_ARGUMENT naming the field ("swap.controls_per_sample"), its value and its limit. Blocks
// are checked against `blocks`, the model's.
absl::Status Validate(const StudyParameters& parameters, int64_t blocks);

}  // namespace sinkd
