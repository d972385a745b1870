// gpt_neox: Pythia, GPT-NeoX. Attention and MLP in parallel, a part of each head rotates.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGptNeox(const ConfigReader& config) {
  DecoderPlan plan;
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, {}, 2048, false));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadHeads(config, 0, 0, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_eps", 1e-5, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "hidden_act", "gelu", spec));
  SINKD_ASSIGN_OR_RETURN(const double theta, config.NumberOr("rotary_emb_base", 10000.0));
  SINKD_ASSIGN_OR_RETURN(const double share, config.NumberOr("rotary_pct", 0.25));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, theta, share, spec));
  SINKD_ASSIGN_OR_RETURN(const bool parallel, config.FlagOr("use_parallel_residual", true));
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", true));
  spec.output_bias = spec.qkv_bias;
  spec.mlp_bias = true;
  spec.wiring = parallel ? Wiring::kParallel : Wiring::kSequential;
  spec.norm = NormKind::kLayer;
  spec.gating = Gating::kNone;
  WeightNames& names = plan.names;
  names.prefix = "gpt_neox.";
  names.embedding = "gpt_neox.embed_in";
  names.final_norm = "gpt_neox.final_layer_norm";
  names.head = "embed_out";
  names.block_prefix = "gpt_neox.layers.";
  names.block.attention_norm = "input_layernorm";
  names.block.q = "attention.query_key_value";
  names.block.o = "attention.dense";
  names.block.mlp_norm = "post_attention_layernorm";
  names.block.up = "mlp.dense_h_to_4h";
  names.block.down = "mlp.dense_4h_to_h";
  names.qkv = QkvLayout::kPerHead;
  return plan;
}

}  // namespace sinkd
