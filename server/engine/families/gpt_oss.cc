// gpt_oss: gpt-oss 20B and 120B. Experts with biases, learned sinks, alternating windows.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kScalingAbsent[] =
    R"({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false,
        "original_max_position_embeddings": 4096})";

}  // namespace

absl::StatusOr<DecoderPlan> PlanGptOss(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 8,
                                                                     .head_size = 64,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 0}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(
      ReadRopeForAll(config, {.theta = 150000, .scaling_absent = kScalingAbsent}, spec));
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", true));
  spec.output_bias = spec.qkv_bias;
  spec.learned_sinks = true;
  spec.gating = Gating::kClampedSwish;
  SINKD_ASSIGN_OR_RETURN(spec.swish_slope, config.NumberOr("swiglu_alpha", 1.702));
  SINKD_ASSIGN_OR_RETURN(spec.swish_limit, config.NumberOr("swiglu_limit", 7.0));
  if (spec.swish_limit <= 0) {
    return config.Error("swiglu_limit", "is not positive", "set a number over 0");
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 128));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return block % 2 == 0; }, spec));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", spec));
  spec.experts.routing = Routing::kTopThenSoftmax;
  spec.experts.bias = true;
  BlockWeightNames& names = plan.names.block;
  names.sinks = "self_attn.sinks";
  names.router = "mlp.router";
  names.expert_gate = "mlp.experts.gate_up_proj";
  names.expert_down = "mlp.experts.down_proj";
  plan.names.experts = ExpertLayout::kStackedInOut;
  plan.names.mxfp4_experts = config.HasObject("quantization_config");
  return plan;
}

}  // namespace sinkd
