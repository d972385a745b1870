// mistral: Mistral 7B, Mathstral, Nemo. A window that is written holds for every block.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanMistral(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 8, .max_positions = 131072}));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  plan.spec.window.assign(plan.spec.window.size(), window);
  return plan;
}

}  // namespace sinkd
