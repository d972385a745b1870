// mpt: MPT 7B and 30B. A bias that falls with distance in place of positions (ALiBi), no biases.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/alibi.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

// Keys of the models' own code that transformers does not follow.
absl::Status RefuseOtherForms(const ConfigReader& config, const ConfigReader& attention) {
  struct Only {
    const ConfigReader& of;
    std::string_view key;
    bool value;
  };
  for (const Only& only : {Only{attention, "alibi", true},
                           {attention, "prefix_lm", false},
                           {attention, "qk_ln", false},
                           {config, "no_bias", true}}) {
    SINKD_ASSIGN_OR_RETURN(const bool written, only.of.FlagOr(only.key, only.value));
    if (written == only.value) continue;
    return only.of.Error(
        only.key,
        StrCat("is ", written ? "true" : "false", ", which transformers does not compute"),
        "use a model without it");
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t ratio, config.SizeOr("expansion_ratio", 4, kMaxWidth));
  if (ratio != 4) {
    return config.Error("expansion_ratio", "is not 4, the only one that transformers computes",
                        "use a model with it");
  }
  SINKD_ASSIGN_OR_RETURN(const double most, attention.NumberOr("alibi_bias_max", 8));
  if (most != 8) {
    return attention.Error("alibi_bias_max", "is not 8, the only one that transformers computes",
                           "use a model with it");
  }
  SINKD_ASSIGN_OR_RETURN(const std::string type,
                         attention.TextOr("attn_type", "multihead_attention"));
  if (type != "multihead_attention") {
    return attention.Error("attn_type", "is not multihead_attention", "use a model with it");
  }
  if (config.HasValue("logit_scale")) {
    return config.Error("logit_scale", "is set, which transformers does not compute",
                        "use a model without it");
  }
  config.PassOver({"embedding_fraction", "init_device", "learned_pos_emb", "norm_type"});
  attention.PassOver({"attn_impl", "attn_uses_sequence_id"});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanMpt(const ConfigReader& config) {
  DecoderPlan plan;
  SizeKeys keys{.intermediate = "", .max_positions = "max_seq_len", .intermediate_per_hidden = 4};
  SINKD_ASSIGN_OR_RETURN(keys.blocks, EitherKey(config, "n_layers", "num_hidden_layers"));
  SINKD_ASSIGN_OR_RETURN(keys.hidden, EitherKey(config, "d_model", "hidden_size"));
  SINKD_ASSIGN_OR_RETURN(keys.heads, EitherKey(config, "n_heads", "num_attention_heads"));
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, 2048, true));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(CheckHeadsDivide(config, keys, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "layer_norm_epsilon", 1e-5, spec));
  const ConfigReader attention = config.Object("attn_config");
  SINKD_RETURN_IF_ERROR(RefuseOtherForms(config, attention));
  spec.distance_bias.slopes = AlibiSlopes(spec.heads);
  SINKD_ASSIGN_OR_RETURN(spec.qkv_clip, attention.NumberOr("clip_qkv", 0));
  if (spec.qkv_clip < 0) {
    return attention.Error("clip_qkv", "is negative", "set a number over 0, or null");
  }
  SINKD_ASSIGN_OR_RETURN(const double scale,
                         attention.NumberOr("softmax_scale", spec.score_scale[0]));
  spec.score_scale.assign(spec.score_scale.size(), scale);
  spec.activation = Activation::kGelu;
  spec.norm = NormKind::kLayer;
  spec.norm_bias = false;
  WeightNames& names = plan.names;
  names.prefix = "transformer.";
  names.embedding = "transformer.wte";
  names.final_norm = "transformer.norm_f";
  names.head = "lm_head";
  names.block_prefix = "transformer.blocks.";
  names.block.attention_norm = "norm_1";
  names.block.q = "attn.Wqkv";
  names.block.o = "attn.out_proj";
  names.block.mlp_norm = "norm_2";
  names.qkv = QkvLayout::kStacked;
  LeaveOutGate("ffn.up_proj", "ffn.down_proj", plan);
  return plan;
}

}  // namespace sinkd
