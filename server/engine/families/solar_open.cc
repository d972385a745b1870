// solar_open: Solar Open. Experts chosen by sigmoids, one that every token passes.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanSolarOpen(const ConfigReader& config) {
  // It has no dense blocks, and so no width for them.
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.heads = 64,
                                                   .kv_heads = 8,
                                                   .head_size = 128,
                                                   .max_positions = 131072,
                                                   .norm_epsilon = 1e-5,
                                                   .rope_theta = 1e6,
                                                   .intermediate_key = "moe_intermediate_size"}));
  config.PassOver({"intermediate_size"});  // written by some, and read by nothing
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", false));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {.renormalize = true}, spec));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 1, spec));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

}  // namespace sinkd
