// llama: Llama 2, 3, 3.1, 3.2, CodeLlama, DeepSeek-R1-Distill-Llama, SmolLM2.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanLlama(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 2048}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

}  // namespace sinkd
