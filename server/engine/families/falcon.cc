// falcon: Falcon 7B, 40B, 180B, RW and Falcon 2. Attention and MLP in parallel, few key heads; the
// RW models in sequence, with a bias that falls with distance (ALiBi).
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/alibi.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

absl::Status ReadKeyHeads(const ConfigReader& config, bool newer, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool one_key_head, config.FlagOr("multi_query", true));
  SINKD_ASSIGN_OR_RETURN(const int64_t written,
                         config.SizeOr("num_kv_heads", spec.heads, kMaxHeads));
  if (!newer && one_key_head) {
    spec.kv_heads = 1;
    return absl::OkStatus();
  }
  spec.kv_heads = written;
  if (newer ? spec.heads % written == 0 : spec.heads == written) return absl::OkStatus();
  return config.Error(
      "num_kv_heads",
      StrCat(newer ? "does not divide" : "is not", " num_attention_heads, ", spec.heads),
      "restore config.json from the checkpoint's source");
}

absl::Status ReadWiring(const ConfigReader& config, bool newer, DecoderPlan& plan) {
  constexpr char kNorms[] = "num_ln_in_parallel_attn";
  SINKD_ASSIGN_OR_RETURN(const bool parallel, config.FlagOr("parallel_attn", true));
  SINKD_ASSIGN_OR_RETURN(const int64_t norms, config.SizeOr(kNorms, newer ? 2 : 1, 2));
  if (newer && !parallel) {
    return config.Error("parallel_attn", "is false, and new_decoder_architecture is true",
                        "restore config.json from the checkpoint's source");
  }
  if (!newer && parallel && norms == 2) {
    return config.Error(kNorms, "is 2, and new_decoder_architecture is false",
                        "restore config.json from the checkpoint's source");
  }
  BlockWeightNames& names = plan.names.block;
  names.attention_norm = "input_layernorm";
  names.mlp_norm = "post_attention_layernorm";
  if (!parallel) return absl::OkStatus();
  ReadOneNorm(plan);
  if (norms == 1) return absl::OkStatus();
  names.attention_norm = "ln_attn";
  names.mlp_norm = "ln_mlp";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanFalcon(const ConfigReader& config) {
  DecoderPlan plan;
  SizeKeys keys{.intermediate = "ffn_hidden_size", .intermediate_per_hidden = 4};
  SINKD_ASSIGN_OR_RETURN(keys.hidden, EitherKey(config, "hidden_size", "n_embed"));
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, 2048, true));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, keys, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_epsilon", 1e-5, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "activation", "gelu", spec));
  SINKD_ASSIGN_OR_RETURN(const bool newer, config.FlagOr("new_decoder_architecture", false));
  SINKD_RETURN_IF_ERROR(ReadKeyHeads(config, newer, spec));
  SINKD_RETURN_IF_ERROR(ReadWiring(config, newer, plan));
  SINKD_ASSIGN_OR_RETURN(const bool alibi, config.FlagOr("alibi", false));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, {}, spec));
  if (alibi) {
    spec.rope_of_block.assign(spec.rope_of_block.size(), -1);
    spec.distance_bias = {.slopes = AlibiSlopes(spec.heads), .in_bfloat16 = true, .scaled = true};
  }
  SINKD_ASSIGN_OR_RETURN(const bool bias, config.FlagOr("bias", false));
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = bias;
  spec.norm = NormKind::kLayer;
  WeightNames& names = plan.names;
  names.prefix = "transformer.";
  names.embedding = "transformer.word_embeddings";
  names.final_norm = "transformer.ln_f";
  names.head = "lm_head";
  names.block_prefix = "transformer.h.";
  names.block.q = "self_attention.query_key_value";
  names.block.o = "self_attention.dense";
  names.qkv = QkvLayout::kPerHead;
  LeaveOutGate("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", plan);
  return plan;
}

}  // namespace sinkd
