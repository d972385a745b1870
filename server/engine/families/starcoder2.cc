// starcoder2: StarCoder2. Layer norms, biases everywhere, an MLP without gate; a window that is
// written holds for every block.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanStarcoder2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 2,
                                                   .max_positions = 4096,
                                                   .norm_epsilon = 1e-5,
                                                   .norm_key = "norm_epsilon",
                                                   .tied = true,
                                                   .activation = "gelu_pytorch_tanh"}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const bool bias, config.FlagOr("use_bias", true));
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = bias;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 0));
  spec.window.assign(spec.window.size(), window);
  spec.norm = NormKind::kLayer;
  LeaveOutGate("mlp.c_fc", "mlp.c_proj", plan);
  return plan;
}

}  // namespace sinkd
