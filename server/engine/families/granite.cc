// granite, granitemoe and granitemoeshared: Granite 3 and 4 dense models and mixtures of experts.
// Multipliers of embedding, residual, attention and logits.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::StatusOr<DecoderPlan> PlanAny(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 2048}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  double attention = 1, divisor = 1;
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "attention_multiplier", 1, attention));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "logits_scaling", 1, divisor));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "embedding_multiplier", 1, spec.embedding_scale));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "residual_multiplier", 1, spec.residual_scale));
  spec.score_scale.assign(spec.score_scale.size(), attention);
  spec.logit_scale = 1 / divisor;
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGranite(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  plan.spec.experts.routing = Routing::kTopThenSoftmax;
  plan.names.experts = ExpertLayout::kStackedOutIn;
  BlockWeightNames& names = plan.names.block;
  names.router = "block_sparse_moe.router.layer";
  names.expert_gate = "block_sparse_moe.input_linear";
  names.expert_down = "block_sparse_moe.output_linear";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoeShared(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGraniteMoe(config));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.shared_intermediate,
                         ReadCount(config, "shared_intermediate_size", 0, kMaxWidth));
  plan.names.block.shared_gate = "shared_mlp.input_linear";
  plan.names.block.shared_down = "shared_mlp.output_linear";
  return plan;
}

}  // namespace sinkd
