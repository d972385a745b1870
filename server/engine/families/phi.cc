// phi: Phi-1, 1.5 and 2. One layer norm before attention and MLP, which run in parallel; an MLP
// without gate, biases everywhere, the output head included; half of each head rotates.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanPhi(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 2048,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "layer_norm_eps",
                                                                     .rope_partial = 0.5,
                                                                     .activation = "gelu_new"}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const bool head_norms, config.FlagOr("qk_layernorm", false));
  if (head_norms) spec.head_norms = HeadNorms::kPerHead;
  spec.norm = NormKind::kLayer;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = spec.head_bias = true;
  ReadOneNorm(plan);
  LeaveOutGate("mlp.fc1", "mlp.fc2", plan);
  plan.names.final_norm = "model.final_layernorm";
  plan.names.block.o = "self_attn.dense";
  plan.names.block.q_norm = "self_attn.q_layernorm";
  plan.names.block.k_norm = "self_attn.k_layernorm";
  return plan;
}

}  // namespace sinkd
