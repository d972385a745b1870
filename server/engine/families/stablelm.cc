// stablelm: StableLM 2 and 3B. Layer norms, partial rotary; the 12B runs attention and MLP in
// parallel after one norm, and norms each head of q and k with weights of its own.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanStableLm(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 32,
                                                                     .kv_heads = 32,
                                                                     .max_positions = 4096,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "layer_norm_eps",
                                                                     .rope_partial = 0.25}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("use_qkv_bias", false));
  SINKD_ASSIGN_OR_RETURN(const bool head_norms, config.FlagOr("qk_layernorm", false));
  SINKD_ASSIGN_OR_RETURN(const bool parallel, config.FlagOr("use_parallel_residual", false));
  spec.norm = NormKind::kLayer;
  spec.head_norm_bias = false;
  if (head_norms) spec.head_norms = HeadNorms::kEachHead;
  if (parallel) ReadOneNorm(plan);
  plan.names.block.q_norm = "self_attn.q_layernorm.norms.{}";
  plan.names.block.k_norm = "self_attn.k_layernorm.norms.{}";
  return plan;
}

}  // namespace sinkd
