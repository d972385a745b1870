// olmo2: OLMo 2. Norms stand after attention and MLP, none before; q and k are normed whole.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanOlmo2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.max_positions = 2048, .norm_epsilon = 1e-5}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kWhole;
  plan.spec.input_norms = false;
  plan.spec.output_norms = true;
  plan.names.block.attention_output_norm = "post_attention_layernorm";
  plan.names.block.mlp_output_norm = "post_feedforward_layernorm";
  return plan;
}

}  // namespace sinkd
