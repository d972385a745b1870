// glm4_moe_lite: GLM-4.7-Flash. Latent attention, experts chosen by sigmoids and a shared one.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/latent_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGlm4MoeLite(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanLatentDecoder(
          config, {.heads = 20, .kv_heads = 20, .max_positions = 202752, .norm_epsilon = 1e-5},
          {.query_rank = 768, .own = 192, .values = 256}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {.scale = 1.8}, spec));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 1, spec));
  SINKD_RETURN_IF_ERROR(ReadMlpTypes(config, spec));
  SINKD_RETURN_IF_ERROR(ReadFurtherBlocks(config, 0, plan));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

}  // namespace sinkd
