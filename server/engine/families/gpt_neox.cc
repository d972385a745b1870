// gpt_neox: Pythia, GPT-NeoX. Attention and MLP in parallel, a part of each head rotates.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// Keys that transformers writes beside those it reads, or reads in the rotation alone.
absl::Status CheckOtherKeys(const ConfigReader& config, const DecoderSpec& spec) {
  struct Other {
    const char* key;
    double value;
  };
  const RopeSpec& rope = spec.ropes[0];
  const auto size = static_cast<double>(spec.head_size);
  const double share = static_cast<double>(rope.dimensions) / size;
  for (const Other& other :
       {Other{"rope_theta", rope.theta}, {"partial_rotary_factor", share}, {"head_dim", size}}) {
    SINKD_ASSIGN_OR_RETURN(const double written, config.NumberOr(other.key, other.value));
    if (written == other.value || std::floor(written * size) == other.value * size) continue;
    return config.Error(other.key, StrCat("is not what the model is computed with, ", other.value),
                        "set rotary_emb_base and rotary_pct, and remove the key");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGptNeox(const ConfigReader& config) {
  DecoderPlan plan;
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, {}, 2048, false));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, {}, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_eps", 1e-5, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "hidden_act", "gelu", spec));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(
      config, {.partial = 0.25, .theta_key = "rotary_emb_base", .partial_key = "rotary_pct"},
      spec));
  SINKD_RETURN_IF_ERROR(CheckOtherKeys(config, spec));
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
