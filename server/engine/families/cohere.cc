// cohere and cohere2: Command R and A. One layer norm without bias before attention and MLP, which
// run in parallel; cohere2 has no rotation in the blocks that see everything.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::StatusOr<DecoderPlan> PlanEither(const ConfigReader& config, double theta) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 8192,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "layer_norm_eps",
                                                                     .rope_theta = theta,
                                                                     .rope_interleaved = true,
                                                                     .tied = true}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  SINKD_ASSIGN_OR_RETURN(plan.spec.logit_scale, config.NumberOr("logit_scale", 0.0625));
  plan.spec.norm = NormKind::kLayer;
  plan.spec.norm_bias = false;
  plan.spec.head_norm_bias = false;
  ReadOneNorm(plan);
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanCohere(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanEither(config, 500000));
  SINKD_ASSIGN_OR_RETURN(const bool norms, config.FlagOr("use_qk_norm", false));
  if (norms) plan.spec.head_norms = HeadNorms::kEachHead;
  return plan;
}

absl::StatusOr<DecoderPlan> PlanCohere2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanEither(config, 10000));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_ASSIGN_OR_RETURN(const int64_t pattern,
                         config.SizeOr("sliding_window_pattern", 4, kMaxBlocks));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [pattern](int64_t block) { return (block + 1) % pattern != 0; }, spec));
  RotateWhereWindowed(spec);
  return plan;
}

}  // namespace sinkd
