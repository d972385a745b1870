// llama: Llama 2, 3, 3.1, 3.2, CodeLlama, DeepSeek-R1-Distill-Llama, SmolLM2.
#include "server/base/status.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanLlama(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 2048}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.qkv_bias, config.FlagOr("attention_bias", false));
  plan.spec.output_bias = plan.spec.qkv_bias;
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

}  // namespace sinkd
