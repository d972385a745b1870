// qwen3_next, qwen3_5 and qwen3_5_moe: Qwen3-Next and Qwen3.5, of the latter two the text half.
// Gated delta rules in three of four blocks, softmax attention with an output gate in the fourth.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

absl::Status ReadDelta(const ConfigReader& config, DecoderSpec& spec) {
  DeltaSpec& delta = spec.delta;
  SINKD_ASSIGN_OR_RETURN(delta.key_heads, config.SizeOr("linear_num_key_heads", 16, kMaxHeads));
  SINKD_ASSIGN_OR_RETURN(delta.value_heads, config.SizeOr("linear_num_value_heads", 32, kMaxHeads));
  SINKD_ASSIGN_OR_RETURN(delta.key_size, config.SizeOr("linear_key_head_dim", 128, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(delta.value_size, config.SizeOr("linear_value_head_dim", 128, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(spec.convolution_taps,
                         config.SizeOr("linear_conv_kernel_dim", 4, kMaxTaps));
  if (delta.value_heads % delta.key_heads == 0) return absl::OkStatus();
  return config.Error("linear_num_value_heads",
                      StrCat("is not a multiple of linear_num_key_heads, ", delta.key_heads),
                      "restore config.json from the checkpoint's source");
}

absl::Status ReadMixersOf(const ConfigReader& config, DecoderSpec& spec) {
  int64_t interval = 4;
  if (!config.HasValue("layer_types")) {
    SINKD_ASSIGN_OR_RETURN(interval, config.SizeOr("full_attention_interval", 4, kMaxBlocks));
  }
  // Written beside layer_types, which goes first; and read by nothing: the gate is always there,
  // and states are float32.
  config.PassOver({"full_attention_interval", "attn_output_gate", "mamba_ssm_dtype",
                   "mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "use_sliding_window"});
  const auto mixes = [interval](int64_t block) { return (block + 1) % interval != 0; };
  return ReadMixers(config, Mixer::kGatedDelta, mixes, spec);
}

absl::StatusOr<DecoderPlan> PlanAny(const ConfigReader& config, int64_t kv_heads,
                                    const RopeDefaults& rope, std::string_view intermediate_key) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.heads = 16,
                                                   .kv_heads = kv_heads,
                                                   .head_size = 256,
                                                   .max_positions = 32768,
                                                   .rope_theta = 0,
                                                   .intermediate_key = intermediate_key}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, rope, spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_RETURN_IF_ERROR(ReadMixersOf(config, spec));
  SINKD_RETURN_IF_ERROR(ReadDelta(config, spec));
  spec.norm = NormKind::kRmsOnePlus;
  spec.head_norms = HeadNorms::kPerHead;
  spec.attention_gate = true;
  BlockWeightNames& names = plan.names.block;
  names.mixer_out = "linear_attn.out_proj";
  names.convolution = "linear_attn.conv1d";
  names.mixer_norm = "linear_attn.norm";
  names.mixer_decay = "linear_attn.A_log";
  names.mixer_step = "linear_attn.dt_bias";
  return plan;
}

// Experts, and a shared expert that its own sigmoid gate scales.
absl::Status ReadMixture(const ConfigReader& config, DecoderPlan& plan) {
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec));
  SINKD_ASSIGN_OR_RETURN(spec.experts.shared_intermediate,
                         config.SizeOr("shared_expert_intermediate_size", 512, kMaxWidth));
  spec.experts.shared_gate = true;
  NameExperts(plan.names.block);
  NameShared("mlp.shared_expert", plan.names.block);
  plan.names.block.shared_router = "mlp.shared_expert_gate";
  return absl::OkStatus();
}

// With text alone, its rotary embedding in three parts is the plain one.
absl::StatusOr<DecoderPlan> PlanText(const ConfigReader& config, int64_t kv_heads,
                                     std::string_view intermediate_key) {
  const RopeDefaults rope{
      .partial = 0.25, .partial_key = "partial_rotary_factor", .in_three_parts = true};
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config, kv_heads, rope, intermediate_key));
  BlockWeightNames& names = plan.names.block;
  names.mixer_in = "linear_attn.in_proj_qkv";
  names.delta_z = "linear_attn.in_proj_z";
  names.delta_b = "linear_attn.in_proj_b";
  names.delta_a = "linear_attn.in_proj_a";
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanQwen3Next(const ConfigReader& config) {
  const RopeDefaults rope{.partial = 0.25, .partial_key = "partial_rotary_factor"};
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config, 2, rope, "intermediate_size"));
  SINKD_RETURN_IF_ERROR(ReadMixture(config, plan));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.renormalize, config.FlagOr("norm_topk_prob", true));
  SINKD_RETURN_IF_ERROR(ReadSparseBlocks(config, plan.spec));
  plan.names.delta = DeltaLayout::kPerKeyHead;
  plan.names.block.mixer_in = "linear_attn.in_proj_qkvz";
  plan.names.block.delta_b = "linear_attn.in_proj_ba";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanQwen35(const ConfigReader& config) {
  return PlanText(config, 4, "intermediate_size");
}

absl::StatusOr<DecoderPlan> PlanQwen35Moe(const ConfigReader& config) {
  // It has no dense blocks, and so no width for them.
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanText(config, 2, "moe_intermediate_size"));
  config.PassOver({"intermediate_size"});  // written by some, and read by nothing
  SINKD_RETURN_IF_ERROR(ReadMixture(config, plan));
  plan.names.block.stacked_gate_up = "mlp.experts.gate_up_proj";
  plan.names.block.stacked_down = "mlp.experts.down_proj";
  return plan;
}

}  // namespace sinkd
