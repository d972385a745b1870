#include "server/engine/families/gpt_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

void NameGptTensors(std::string_view up, std::string_view down, DecoderPlan& plan) {
  WeightNames& names = plan.names;
  names.prefix = "transformer.";
  names.embedding = "transformer.wte";
  names.positions = "transformer.wpe";
  names.final_norm = "transformer.ln_f";
  names.head = "lm_head";
  names.block_prefix = "transformer.h.";
  names.block.attention_norm = "ln_1";
  names.block.mlp_norm = "ln_2";
  LeaveOutGate(up, down, plan);
}

absl::StatusOr<DecoderPlan> PlanGptDecoder(const ConfigReader& config,
                                           const GptDefaults& defaults) {
  DecoderPlan plan;
  SizeKeys keys{.intermediate = "n_inner", .intermediate_per_hidden = 4};
  SINKD_ASSIGN_OR_RETURN(keys.blocks, EitherKey(config, "n_layer", "num_hidden_layers"));
  SINKD_ASSIGN_OR_RETURN(keys.hidden, EitherKey(config, "n_embd", "hidden_size"));
  SINKD_ASSIGN_OR_RETURN(keys.heads, EitherKey(config, "n_head", "num_attention_heads"));
  SINKD_ASSIGN_OR_RETURN(keys.max_positions,
                         EitherKey(config, "n_positions", "max_position_embeddings"));
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, defaults.max_positions, defaults.tied));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, keys, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_epsilon", 1e-5, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "activation_function", defaults.activation, spec));
  spec.norm = NormKind::kLayer;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = true;
  NameGptTensors(defaults.up, defaults.down, plan);
  plan.names.block.q = "attn.c_attn";
  plan.names.block.o = "attn.c_proj";
  return plan;
}

}  // namespace sinkd
