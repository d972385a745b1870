#include "server/analysis/parameters.h"

#include <absl/strings/str_cat.h>

#include "server/analysis/catalog.h"
#include "server/base/parameter_check.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr int64_t kMostPositions = 4096;
constexpr int64_t kMostTokens = 1000;
constexpr int64_t kMostDraws = 10000;
constexpr int64_t kMostPortraits = 100;
constexpr double kLargestRatio = 1e6;

absl::Status ValidateScores(const ScoreParameters& p) {
  return CheckParameter(p.divisor == QueryDivisor::kFromPosition || p.divisor == QueryDivisor::kAll,
                        "spec.scores.divisor", static_cast<int>(p.divisor), "from position or all");
}

absl::Status ValidateSinkRate(const SinkRateParameters& p) {
  SINKD_RETURN_IF_ERROR(CheckParameter(p.epsilon >= 0 && p.epsilon < 1, "spec.sink_rate.epsilon",
                                       p.epsilon, "at least 0 and under 1"));
  SINKD_RETURN_IF_ERROR(CheckRange("spec.sink_rate.positions", p.positions, 1, kMostPositions));
  return CheckRange("spec.sink_rate.first_tokens", p.first_tokens, 0, kMostPositions);
}

absl::Status ValidateLevels(const LevelParameters& p) {
  SINKD_RETURN_IF_ERROR(CheckParameter(p.min_share >= 0 && p.min_share <= 1,
                                       "spec.levels.min_share", p.min_share, "from 0 to 1"));
  return CheckRange("spec.levels.top_tokens", p.top_tokens, 0, kMostTokens);
}

}  // namespace

DetectionParameters PaperTextDetection() {
  return {.cosine_threshold = 0.95, .min_norm_ratio = 3};
}

absl::Status ValidateDetection(const DetectionParameters& p, const std::string& path) {
  const auto field = [&](const char* name) { return absl::StrCat(path, ".", name); };
  SINKD_RETURN_IF_ERROR(CheckParameter(p.cosine_threshold > 0 && p.cosine_threshold < 1,
                                       field("cosine_threshold"), p.cosine_threshold,
                                       "over 0 and under 1"));
  SINKD_RETURN_IF_ERROR(CheckParameter(p.min_norm_ratio >= 0 && p.min_norm_ratio <= kLargestRatio,
                                       field("min_norm_ratio"), p.min_norm_ratio, "from 0 to 1e6"));
  SINKD_RETURN_IF_ERROR(
      CheckParameter(p.kind_rule == KindRule::kWindow || p.kind_rule == KindRule::kPublished,
                     field("kind_rule"), static_cast<int>(p.kind_rule), "a known rule"));
  return CheckParameter(p.last_state == LastState::kNormed || p.last_state == LastState::kRaw,
                        field("last_state"), static_cast<int>(p.last_state), "normed or raw");
}

absl::Status Validate(const AnalysisSpec& spec) {
  SINKD_RETURN_IF_ERROR(ValidateDetection(spec.detection, "spec.detection"));
  if (spec.scores) SINKD_RETURN_IF_ERROR(ValidateScores(*spec.scores));
  if (spec.sink_rate) SINKD_RETURN_IF_ERROR(ValidateSinkRate(*spec.sink_rate));
  if (spec.levels) SINKD_RETURN_IF_ERROR(ValidateLevels(*spec.levels));
  if (spec.portrait) {
    SINKD_RETURN_IF_ERROR(
        CheckRange("spec.portrait.samples", spec.portrait->samples, 1, kMostPortraits));
  }
  if (!spec.compensation) return absl::OkStatus();
  return CheckRange("spec.compensation.bootstrap_samples", spec.compensation->bootstrap_samples, 0,
                    kMostDraws);
}

TraceRequest RequiredTrace(const AnalysisSpec& spec) {
  TraceRequest request{.last_state = spec.detection.last_state, .attention = false};
  for (const AnalysisEntry& analysis : Analyses()) {
    request.attention |= analysis.needs_attention && analysis.requested(spec);
  }
  if (spec.sink_rate) request.prefix = spec.sink_rate->first_tokens;
  return request;
}

}  // namespace sinkd
