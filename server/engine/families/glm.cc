// glm and glm4: GLM-4 of 2024 and of 2025, which norms after attention and MLP too. Half of each
// head rotates, in interleaved pairs.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGlm(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 32,
                                                                     .kv_heads = 2,
                                                                     .head_size = 128,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1.5625e-7,
                                                                     .rope_partial = 0.5,
                                                                     .rope_interleaved = true}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.qkv_bias, config.FlagOr("attention_bias", true));
  plan.names.gate_up = GateUpLayout::kStacked;
  plan.names.block.gate = "mlp.gate_up_proj";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGlm4(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGlm(config));
  plan.spec.output_norms = true;
  plan.names.block.attention_output_norm = "post_self_attn_layernorm";
  plan.names.block.mlp_output_norm = "post_mlp_layernorm";
  return plan;
}

}  // namespace sinkd
