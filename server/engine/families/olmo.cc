// olmo: OLMo of 2024. Layer norms without weights, projections that may be clamped.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanOlmo(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.max_positions = 2048, .norm_epsilon = 1e-5, .norm_key = ""}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.norm = NormKind::kLayer;
  plan.spec.norm_weights = false;
  if (config.HasValue("clip_qkv")) {
    SINKD_RETURN_IF_ERROR(ReadPositive(config, "clip_qkv", 0, plan.spec.qkv_clip));
  }
  return plan;
}

}  // namespace sinkd
