// ernie4_5: ERNIE 4.5 dense models. Interleaved rotary.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanErnie(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 2,
                                                                     .head_size = 128,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 500000,
                                                                     .rope_interleaved = true,
                                                                     .tied = true}));
  SINKD_ASSIGN_OR_RETURN(const bool bias, config.FlagOr("use_bias", false));
  plan.spec.qkv_bias = plan.spec.output_bias = plan.spec.mlp_bias = bias;
  return plan;
}

}  // namespace sinkd
