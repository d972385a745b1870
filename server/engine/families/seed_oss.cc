// seed_oss: Seed-OSS 36B. Biases on q, k and v.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanSeedOss(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.kv_heads = 8, .head_size = 128, .max_positions = 524288}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.qkv_bias, config.FlagOr("attention_bias", true));
  SINKD_ASSIGN_OR_RETURN(plan.spec.output_bias, config.FlagOr("attention_out_bias", false));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

}  // namespace sinkd
