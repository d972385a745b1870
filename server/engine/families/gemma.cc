// gemma to gemma3 and vaultgemma: norms with 1 + weight - from gemma2 on before and after, but in
// vaultgemma -, a scaled embedding.
#include <cmath>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

namespace {

// null switches a cap off, an absent key means the class's own.
absl::StatusOr<double> ReadCap(const ConfigReader& config, std::string_view key, double absent) {
  if (!config.HasValue(key)) return config.Has(key) ? 0.0 : absent;
  SINKD_ASSIGN_OR_RETURN(const double cap, config.Number(key));
  if (cap <= 0) return config.Error(key, "is not positive", "set a number over 0, or null");
  return cap;
}

void ScaleAndAddOne(DecoderSpec& spec) {
  spec.norm = NormKind::kRmsOnePlus;
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.hidden));
}

// What gemma2 and its successors share. Scores are divided by the root of query_pre_attn_scalar.
absl::StatusOr<DecoderPlan> PlanLater(const ConfigReader& config, int64_t vocabulary,
                                      int64_t max_positions, double rope_theta) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.heads = 8,
                                                   .vocabulary = vocabulary,
                                                   .kv_heads = 4,
                                                   .head_size = 256,
                                                   .max_positions = max_positions,
                                                   .rope_theta = rope_theta,
                                                   .tied = true,
                                                   .activation_key = "hidden_activation",
                                                   .activation = "gelu_pytorch_tanh"}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_ASSIGN_OR_RETURN(const double scalar, config.NumberOr("query_pre_attn_scalar", 256));
  if (scalar <= 0) {
    return config.Error("query_pre_attn_scalar", "is not positive", "set a number over 0");
  }
  spec.score_scale.assign(spec.score_scale.size(), 1.0 / std::sqrt(scalar));
  spec.output_norms = true;
  ScaleAndAddOne(spec);
  BlockWeightNames& names = plan.names.block;
  names.attention_output_norm = "post_attention_layernorm";
  names.mlp_norm = "pre_feedforward_layernorm";
  names.mlp_output_norm = "post_feedforward_layernorm";
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGemma(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.heads = 16,
                                                   .vocabulary = 256000,
                                                   .kv_heads = 16,
                                                   .head_size = 256,
                                                   .max_positions = 8192,
                                                   .tied = true,
                                                   .activation = "gelu_pytorch_tanh"}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  // Its first files say gelu and mean this.
  if (plan.spec.activation == Activation::kGelu) plan.spec.activation = Activation::kGeluTanh;
  ScaleAndAddOne(plan.spec);
  return plan;
}

absl::StatusOr<DecoderPlan> PlanVaultGemma(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGemma2(config));
  plan.spec.output_norms = false;
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGemma2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanLater(config, 256000, 8192, 10000.0));
  SINKD_ASSIGN_OR_RETURN(plan.spec.score_cap, ReadCap(config, "attn_logit_softcapping", 50.0));
  SINKD_ASSIGN_OR_RETURN(plan.spec.logit_cap, ReadCap(config, "final_logit_softcapping", 30.0));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return block % 2 == 0; }, plan.spec));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGemma3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanLater(config, 262208, 131072, 0));
  DecoderSpec& spec = plan.spec;
  spec.head_norms = HeadNorms::kPerHead;
  SINKD_ASSIGN_OR_RETURN(spec.logit_cap, ReadCap(config, "final_logit_softcapping", 0.0));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_ASSIGN_OR_RETURN(const int64_t pattern,
                         config.SizeOr("sliding_window_pattern", 6, kMaxBlocks));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [pattern](int64_t block) { return (block + 1) % pattern != 0; }, spec));
  // Blocks that slide turn by a base of their own.
  return RotateByLayerType(config, {.theta = 1e6},
                           {.theta = 10000.0, .theta_key = "rope_local_base_freq"},
                           std::move(plan));
}

}  // namespace sinkd
