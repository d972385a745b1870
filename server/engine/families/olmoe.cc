// olmoe and flex_olmo: OLMoE, FlexOlmo. A mixture of experts, norms over all of q and of k;
// flex_olmo norms what attention and experts give, and not what they read.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanOlmoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.max_positions = 4096, .norm_epsilon = 1e-5}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  if (config.HasValue("clip_qkv")) {
    SINKD_RETURN_IF_ERROR(ReadPositive(config, "clip_qkv", 0, plan.spec.qkv_clip));
    plan.spec.clip_after_norms = true;
  }
  plan.spec.head_norms = HeadNorms::kWhole;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.renormalize, config.FlagOr("norm_topk_prob", false));
  NameExperts(plan.names.block);
  return plan;
}

absl::StatusOr<DecoderPlan> PlanFlexOlmo(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.max_positions = 4096, .rope_theta = 500000}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kWhole;
  NormAfterOnly(plan);
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.renormalize, config.FlagOr("norm_topk_prob", false));
  NameExperts(plan.names.block);
  return plan;
}

}  // namespace sinkd
