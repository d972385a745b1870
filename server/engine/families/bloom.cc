// bloom: BLOOM, BLOOMZ. A bias that falls with distance in place of positions (ALiBi); a norm of
// the embedding.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/alibi.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanBloom(const ConfigReader& config) {
  DecoderPlan plan;
  SizeKeys keys{.intermediate = "", .max_positions = "", .intermediate_per_hidden = 4};
  SINKD_ASSIGN_OR_RETURN(keys.blocks, EitherKey(config, "n_layer", "num_hidden_layers"));
  SINKD_ASSIGN_OR_RETURN(keys.hidden, EitherKey(config, "hidden_size", "n_embed"));
  SINKD_ASSIGN_OR_RETURN(keys.heads, EitherKey(config, "n_head", "num_attention_heads"));
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, kMaxPositions, true));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, keys, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_epsilon", 1e-5, spec));
  SINKD_ASSIGN_OR_RETURN(const bool after,
                         config.FlagOr("apply_residual_connection_post_layernorm", false));
  if (after) {
    return config.Error("apply_residual_connection_post_layernorm",
                        "is true: a stream of norms is not computed", "use a model without it");
  }
  spec.distance_bias.slopes = AlibiSlopes(spec.heads);
  spec.activation = Activation::kGeluTanh;
  spec.norm = NormKind::kLayer;
  spec.embedding_norm = true;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = true;
  WeightNames& names = plan.names;
  names.prefix = "transformer.";
  names.embedding = "transformer.word_embeddings";
  names.embedding_norm = "transformer.word_embeddings_layernorm";
  names.final_norm = "transformer.ln_f";
  names.head = "lm_head";
  names.block_prefix = "transformer.h.";
  names.block.attention_norm = "input_layernorm";
  names.block.q = "self_attention.query_key_value";
  names.block.o = "self_attention.dense";
  names.block.mlp_norm = "post_attention_layernorm";
  names.qkv = QkvLayout::kPerHead;
  LeaveOutGate("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", plan);
  return plan;
}

}  // namespace sinkd
