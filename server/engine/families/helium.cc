// helium: Helium 1. Interleaved rotary.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanHelium(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 20,
                                                                     .kv_heads = 20,
                                                                     .head_size = 128,
                                                                     .max_positions = 4096,
                                                                     .norm_epsilon = 1e-8,
                                                                     .rope_theta = 100000,
                                                                     .rope_interleaved = true}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.qkv_bias, config.FlagOr("attention_bias", false));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

}  // namespace sinkd
