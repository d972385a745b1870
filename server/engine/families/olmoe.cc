// olmoe: OLMoE. A mixture of experts, norms over all of q and of k.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanOlmoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.max_positions = 4096, .norm_epsilon = 1e-5}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  if (config.HasValue("clip_qkv")) {
    return config.Error("clip_qkv", "clamps q and k after their norms, which is not computed",
                        "use a model without it");
  }
  plan.spec.head_norms = HeadNorms::kWhole;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.renormalize, config.FlagOr("norm_topk_prob", false));
  NameExperts(plan.names.block);
  return plan;
}

}  // namespace sinkd
