// phi3: Phi-3, Phi-3.5, Phi-4, Phi-4-mini. Projections are stored fused; a window that is written
// holds for every block.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanPhi3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.max_positions = 4096, .norm_epsilon = 1e-5, .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(
      config,
      {.partial_key = "partial_rotary_factor", .original_absent = 4096, .only_longrope = true},
      plan.spec));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 0));
  plan.spec.window.assign(plan.spec.window.size(), window);
  plan.names.qkv = QkvLayout::kStacked;
  plan.names.gate_up = GateUpLayout::kStacked;
  plan.names.block.q = "self_attn.qkv_proj";
  plan.names.block.gate = "mlp.gate_up_proj";
  return plan;
}

}  // namespace sinkd
