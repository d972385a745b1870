// hunyuan_v1_dense and hunyuan_v1_moe: Hunyuan 0.5B to 7B, and A13B. Norms on q and k after they
// are rotated.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanHunyuan(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.max_positions = 2048, .norm_epsilon = 1e-5, .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, {.fixed_alpha = true}, plan.spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kPerHead;
  plan.spec.head_norms_after_rotary = true;
  plan.names.block.q_norm = "self_attn.query_layernorm";
  plan.names.block.k_norm = "self_attn.key_layernorm";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanHunyuanMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanHunyuan(config));
  DecoderSpec& spec = plan.spec;
  if (!config.HasValue("moe_topk") && !config.HasValue("num_experts_per_tok")) {
    return config.Error("moe_topk", "is missing", "restore config.json from its source");
  }
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", spec, "num_experts", "moe_topk"));
  spec.experts.shared_intermediate = spec.intermediate;
  NameExperts(plan.names.block);
  NameShared("mlp.shared_mlp", plan.names.block);
  plan.names.block.router = "mlp.gate.wg";
  return plan;
}

}  // namespace sinkd
