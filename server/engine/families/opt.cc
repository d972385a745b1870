// opt: OPT. Learned positions that begin at row 2; OPT-350m norms after each add, has no final
// norm, and projects a narrower embedding in and out.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanOpt(const ConfigReader& config) {
  DecoderPlan plan;
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, {.intermediate = "ffn_dim"}, 2048, true));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, {}, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "activation_function", "relu", spec));
  SINKD_ASSIGN_OR_RETURN(const bool before, config.FlagOr("do_layer_norm_before", true));
  SINKD_ASSIGN_OR_RETURN(const bool bare, config.FlagOr("_remove_final_layer_norm", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t width,
                         config.SizeOr("word_embed_proj_dim", spec.hidden, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(const bool bias, config.FlagOr("enable_bias", true));
  SINKD_ASSIGN_OR_RETURN(spec.norm_weights, config.FlagOr("layer_norm_elementwise_affine", true));
  spec.embedding_width = width == spec.hidden ? 0 : width;
  spec.learned_positions = spec.max_positions + 2;
  spec.position_offset = 2;
  spec.norm = NormKind::kLayer;
  spec.norm_epsilon = 1e-5;
  spec.wiring = before ? Wiring::kSequential : Wiring::kNormAfterResidual;
  spec.final_norm = before && !bare;
  spec.gating = Gating::kNone;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = bias;
  WeightNames& names = plan.names;
  names.embedding = "model.decoder.embed_tokens";
  names.positions = "model.decoder.embed_positions";
  names.project_in = "model.decoder.project_in";
  names.project_out = "model.decoder.project_out";
  names.final_norm = "model.decoder.final_layer_norm";
  names.head = "lm_head";
  names.block_prefix = "model.decoder.layers.";
  names.block.attention_norm = "self_attn_layer_norm";
  names.block.q = "self_attn.q_proj";
  names.block.k = "self_attn.k_proj";
  names.block.v = "self_attn.v_proj";
  names.block.o = "self_attn.out_proj";
  names.block.mlp_norm = "final_layer_norm";
  names.block.up = "fc1";
  names.block.down = "fc2";
  return plan;
}

}  // namespace sinkd
