// glm4_moe: GLM-4.5 and 4.6. Experts chosen by sigmoids, one that every token passes; half of each
// head rotates.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGlm4Moe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 96,
                                                                     .kv_heads = 8,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_partial = 0.5}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", false));
  SINKD_ASSIGN_OR_RETURN(const bool norms, config.FlagOr("use_qk_norm", false));
  if (norms) spec.head_norms = HeadNorms::kPerHead;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {.renormalize = true}, spec));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 1, spec));
  SINKD_RETURN_IF_ERROR(ReadFirstDense(config, 1, spec));
  SINKD_RETURN_IF_ERROR(ReadFurtherBlocks(config, 0, plan));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

}  // namespace sinkd
