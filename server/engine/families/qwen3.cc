// qwen3: Qwen3 dense models.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanQwen3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.kv_heads = 32, .head_size = 128, .max_positions = 32768}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kPerHead;
  SINKD_RETURN_IF_ERROR(ReadQwenWindows(config, plan.spec));
  return plan;
}

}  // namespace sinkd
