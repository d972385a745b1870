// gpt2: GPT-2. Learned positions, layer norms, projections stored [in, out].
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gpt_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGpt2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGptDecoder(config, {}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const bool scaled, config.FlagOr("scale_attn_weights", true));
  SINKD_ASSIGN_OR_RETURN(const bool by_block,
                         config.FlagOr("scale_attn_by_inverse_layer_idx", false));
  for (size_t l = 0; l < spec.score_scale.size(); ++l) {
    if (!scaled) spec.score_scale[l] = 1.0;
    if (by_block) spec.score_scale[l] /= static_cast<double>(l + 1);
  }
  spec.learned_positions = spec.max_positions;
  plan.names.qkv = QkvLayout::kStacked;
  plan.names.input_major = true;
  return plan;
}

}  // namespace sinkd
