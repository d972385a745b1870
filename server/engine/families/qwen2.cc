// qwen2: Qwen2, 2.5, Math, Coder, QwQ-32B, DeepSeek-R1-Distill-Qwen.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanQwen2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 32, .max_positions = 32768}));
  plan.spec.qkv_bias = true;
  SINKD_RETURN_IF_ERROR(ReadQwenWindows(config, plan.spec));
  return plan;
}

}  // namespace sinkd
