// gpt_oss: gpt-oss 20B and 120B. Experts with biases, learned sinks, alternating windows.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGptOss(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 8,
                                                                     .head_size = 64,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 150000}));
  DecoderSpec& spec = plan.spec;
  spec.qkv_bias = spec.output_bias = true;
  spec.mlp_bias = true;
  spec.learned_sinks = true;
  spec.gating = Gating::kClampedSwish;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 128));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return block % 2 == 0; }, spec));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "num_local_experts", "intermediate_size", spec));
  spec.experts.routing = Routing::kTopThenSoftmax;
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
