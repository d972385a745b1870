// exaone4: EXAONE 4.0. Norms after attention and MLP only, norms on q and k; where blocks slide,
// those that see everything do not rotate.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanExaone4(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config,
                       {.heads = 32, .kv_heads = 32, .max_positions = 2048, .norm_epsilon = 1e-5}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  // A pattern of letters comes with layer_types.
  int64_t pattern = 4;
  if (!config.HasValue("layer_types")) {
    SINKD_ASSIGN_OR_RETURN(pattern, config.SizeOr("sliding_window_pattern", 4, kMaxBlocks));
  }
  config.PassOver({"sliding_window_pattern"});
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window,
      [window, pattern](int64_t block) { return window > 0 && (block + 1) % pattern != 0; }, spec));
  if (window > 0) RotateWhereWindowed(spec);
  NormAfterOnly(plan);
  spec.head_norms = HeadNorms::kPerHead;
  return plan;
}

}  // namespace sinkd
