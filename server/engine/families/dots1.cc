// dots1: dots.llm1. Experts chosen by sigmoids, those that every token passes; norms on q and k.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanDots1(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.heads = 32, .kv_heads = 32, .max_positions = 2048}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  spec.head_norms = HeadNorms::kPerHead;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_ASSIGN_OR_RETURN(const double first, config.NumberOr("max_window_layers", 62));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window,
      [window, first](int64_t block) { return window > 0 && static_cast<double>(block) >= first; },
      spec));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {.renormalize = false}, spec));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 0, spec));
  SINKD_RETURN_IF_ERROR(ReadFirstDense(config, 0, spec));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

}  // namespace sinkd
