// persimmon: Persimmon 8B, Fuyu's text half. Layer norms, also of each head; half of each head
// rotates; a squared ReLU without gate.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanPersimmon(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 16384,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "layer_norm_eps",
                                                                     .rope_partial = 0.5,
                                                                     .activation = "relu2"}));
  DecoderSpec& spec = plan.spec;
  if (spec.head_size * spec.heads != spec.hidden || spec.kv_heads != spec.heads) {
    return config.Error(spec.kv_heads != spec.heads ? "num_key_value_heads" : "head_dim",
                        "does not give each head its own share of hidden_size",
                        "restore config.json from the checkpoint's source");
  }
  SINKD_ASSIGN_OR_RETURN(const bool head_norms, config.FlagOr("qk_layernorm", true));
  if (head_norms) spec.head_norms = HeadNorms::kPerHead;
  spec.norm = NormKind::kLayer;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = true;
  LeaveOutGate("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", plan);
  plan.names.final_norm = "model.final_layernorm";
  plan.names.qkv = QkvLayout::kPerHead;
  BlockWeightNames& names = plan.names.block;
  names.q = "self_attn.query_key_value";
  names.o = "self_attn.dense";
  names.q_norm = "self_attn.q_layernorm";
  names.k_norm = "self_attn.k_layernorm";
  return plan;
}

}  // namespace sinkd
