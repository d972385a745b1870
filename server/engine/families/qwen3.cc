// qwen3: Qwen3 dense models.
#include "server/base/status.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanQwen3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.kv_heads = 32, .head_size = 128, .max_positions = 32768}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.qkv_bias, config.FlagOr("attention_bias", false));
  plan.spec.output_bias = plan.spec.qkv_bias;
  plan.spec.head_norms = true;
  SINKD_RETURN_IF_ERROR(ReadQwenWindows(config, plan.spec));
  return plan;
}

}  // namespace sinkd
