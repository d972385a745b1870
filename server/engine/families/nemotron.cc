// nemotron: Nemotron-3 and 4, Minitron. Layer norms with 1 + weight, a squared ReLU without gate,
// partial rotary.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanNemotron(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 48,
                                                                     .max_positions = 4096,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "norm_eps",
                                                                     .rope_partial = 0.5,
                                                                     .activation = "relu2"}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  plan.spec.norm = NormKind::kLayerOnePlus;
  LeaveOutGate("mlp.up_proj", "mlp.down_proj", plan);
  return plan;
}

}  // namespace sinkd
