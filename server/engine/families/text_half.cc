// The text half of checkpoints that also see: gemma3, gemma4, qwen2_vl, qwen2_5_vl, qwen3_vl,
// qwen3_5, mistral3, llava, llama4 and kimi_k25. With text alone, rotary embedding in three parts
// (mrope) is the plain one.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

// The half's own configuration; old files of Qwen2-VL have its keys at the top.
ConfigReader TextOf(const ConfigReader& config) {
  return config.HasObject("text_config") ? config.Object("text_config") : config;
}

// The same where the file must have it.
absl::StatusOr<ConfigReader> NeededText(const ConfigReader& config) {
  if (!config.HasObject("text_config")) {
    return config.Error("text_config", "is missing",
                        "restore config.json from the checkpoint's source");
  }
  return config.Object("text_config");
}

// What the file says of the whole: its head is tied where either half says so.
absl::StatusOr<DecoderPlan> OfWhole(const ConfigReader& config, DecoderPlan plan,
                                    bool tied_absent = false) {
  SINKD_ASSIGN_OR_RETURN(const bool tied, config.FlagOr("tie_word_embeddings", tied_absent));
  plan.spec.tied_head = plan.spec.tied_head || tied;
  if (plan.spec.dtype.empty()) {
    SINKD_ASSIGN_OR_RETURN(plan.spec.dtype, ReadDtype(config));
  }
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanQwen2Vl(const ConfigReader& config) {
  const ConfigReader text = TextOf(config);
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(
          text, {.kv_heads = 8, .max_positions = 32768, .norm_epsilon = 1e-5, .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(text, {.theta = 1e6, .in_three_parts = true}, plan.spec));
  plan.spec.qkv_bias = true;
  SINKD_RETURN_IF_ERROR(ReadQwenWindows(text, plan.spec, 80));
  return OfWhole(config, std::move(plan));
}

absl::StatusOr<DecoderPlan> PlanQwen3Vl(const ConfigReader& config) {
  const ConfigReader text = TextOf(config);
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(
          text, {.kv_heads = 32, .head_size = 128, .max_positions = 128000, .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(text, {.theta = 500000, .in_three_parts = true}, plan.spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(text, plan.spec));
  plan.spec.head_norms = HeadNorms::kPerHead;
  return OfWhole(config, std::move(plan));
}

absl::StatusOr<DecoderPlan> PlanQwen3VlMoe(const ConfigReader& config) {
  const ConfigReader text = TextOf(config);
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(text,
                       {.kv_heads = 16, .max_positions = 128000, .rope_theta = 0, .tied = true}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(text, {.theta = 500000, .in_three_parts = true}, spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(text, spec));
  spec.head_norms = HeadNorms::kPerHead;
  SINKD_RETURN_IF_ERROR(ReadExperts(text, "moe_intermediate_size", spec));
  SINKD_RETURN_IF_ERROR(ReadSparseBlocks(text, spec));
  plan.names.experts = ExpertLayout::kStackedHalves;
  plan.names.block.router = "mlp.gate";
  plan.names.block.expert_gate = "mlp.experts.gate_up_proj";
  plan.names.block.expert_down = "mlp.experts.down_proj";
  return OfWhole(config, std::move(plan));
}

absl::StatusOr<DecoderPlan> PlanGemma3Multimodal(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader text, NeededText(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGemma3(text));
  if (plan.spec.dtype.empty()) {
    SINKD_ASSIGN_OR_RETURN(plan.spec.dtype, ReadDtype(config));
  }
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGemma4Multimodal(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader text, NeededText(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGemma4(text));
  return OfWhole(config, std::move(plan), /*tied_absent=*/true);
}

absl::StatusOr<DecoderPlan> PlanLlama4(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader text, NeededText(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanLlama4Text(text));
  return OfWhole(config, std::move(plan));
}

absl::StatusOr<DecoderPlan> PlanKimiK25(const ConfigReader& config) {
  const ConfigReader text = config.Object("text_config");
  SINKD_ASSIGN_OR_RETURN(const std::string type, text.TextOr("model_type", "deepseek_v3"));
  if (type != "deepseek_v3" && type != "kimi_k2") {
    return text.Error("model_type", "is not that of a text half of this family",
                      "use deepseek_v3 or kimi_k2");
  }
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanDeepseekV3(text));
  return OfWhole(config, std::move(plan), /*tied_absent=*/true);
}

absl::StatusOr<DecoderPlan> PlanTextHalf(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const ConfigReader text, NeededText(config));
  SINKD_ASSIGN_OR_RETURN(const std::string type, text.TextOr("model_type", "llama"));
  for (const Family& family : Families()) {
    if (family.model_type != type || family.plan == PlanTextHalf) continue;
    SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, family.plan(text));
    return OfWhole(config, std::move(plan));
  }
  return text.Error("model_type", "is not a model family this server knows",
                    "use a checkpoint whose text half is of a family it knows");
}

}  // namespace sinkd
