// falcon_h1: Falcon-H1. In every block Mamba2 beside softmax attention, and a multiplier on what
// each part reads or gives.
#include <algorithm>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"
#include "server/engine/families/mamba_keys.h"

namespace sinkd {
namespace {

absl::Status ReadMultipliers(const ConfigReader& config, std::string_view key,
                             std::span<double> multipliers) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> numbers, config.NumberList(key));
  if (numbers.empty()) return absl::OkStatus();
  if (numbers.size() != multipliers.size()) {
    return config.Error(key, StrCat("does not hold ", multipliers.size(), " numbers"),
                        "restore config.json from the checkpoint's source");
  }
  std::copy(numbers.begin(), numbers.end(), multipliers.begin());
  return absl::OkStatus();
}

absl::Status ReadAllMultipliers(const ConfigReader& config, DecoderSpec& spec) {
  double key = 1;
  struct Multiplier {
    std::string_view key;
    double& value;
  };
  const Multiplier multipliers[] = {{"embedding_multiplier", spec.embedding_scale},
                                    {"lm_head_multiplier", spec.logit_scale},
                                    {"attention_in_multiplier", spec.attention_input_scale},
                                    {"attention_out_multiplier", spec.attention_output_scale},
                                    {"key_multiplier", key},
                                    {"ssm_in_multiplier", spec.mamba.input_scale},
                                    {"ssm_out_multiplier", spec.mamba.output_scale}};
  for (const Multiplier& multiplier : multipliers) {
    SINKD_RETURN_IF_ERROR(ReadPositive(config, multiplier.key, 1, multiplier.value));
  }
  for (double& scale : spec.score_scale) scale *= key;
  std::array<double, 2> mlp = {1, 1};
  SINKD_RETURN_IF_ERROR(ReadMultipliers(config, "mlp_multipliers", mlp));
  spec.gate_scale = mlp[0];
  spec.mlp_output_scale = mlp[1];
  return ReadMultipliers(config, "ssm_multipliers", spec.mamba.part_scales);
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanFalconH1(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.kv_heads = 8, .max_positions = 8192, .norm_epsilon = 1e-5}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_ASSIGN_OR_RETURN(spec.mlp_bias, config.FlagOr("mlp_bias", false));
  spec.mixer.assign(spec.window.size(), Mixer::kAttentionAndMamba2);
  SINKD_RETURN_IF_ERROR(CheckLayerTypes(config, spec));
  SINKD_RETURN_IF_ERROR(ReadMamba(config, plan, {.width_key = "mamba_d_ssm", .width = 1024}));
  SINKD_ASSIGN_OR_RETURN(spec.mamba.output_bias, config.FlagOr("projectors_bias", false));
  SINKD_ASSIGN_OR_RETURN(spec.mamba.norm, config.FlagOr("mamba_rms_norm", false));
  SINKD_ASSIGN_OR_RETURN(spec.mamba.norm_before_gate,
                         config.FlagOr("mamba_norm_before_gate", true));
  SINKD_RETURN_IF_ERROR(ReadAllMultipliers(config, spec));
  // Of generation, and of the models' own code.
  config.PassOver({"num_logits_to_keep", "mamba_use_mlp", "attn_layer_indices"});
  plan.names.final_norm = "model.final_layernorm";
  BlockWeightNames& names = plan.names.block;
  names.mlp_norm = "pre_ff_layernorm";
  names.gate = "feed_forward.gate_proj";
  names.up = "feed_forward.up_proj";
  names.down = "feed_forward.down_proj";
  return plan;
}

}  // namespace sinkd
