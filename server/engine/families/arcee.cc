// arcee: AFM 4.5B. A squared ReLU without gate.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanArcee(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 4096,
                                                                     .norm_epsilon = 1e-5,
                                                                     .activation = "relu2"}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  LeaveOutGate("mlp.up_proj", "mlp.down_proj", plan);
  return plan;
}

}  // namespace sinkd
