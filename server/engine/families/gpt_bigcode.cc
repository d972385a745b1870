// gpt_bigcode: StarCoder, SantaCoder. GPT-2 with one key head for all query heads.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gpt_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGptBigCode(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGptDecoder(config, {.activation = "gelu_pytorch_tanh"}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const bool scaled, config.FlagOr("scale_attn_weights", true));
  if (!scaled) spec.score_scale.assign(spec.score_scale.size(), 1.0);
  SINKD_ASSIGN_OR_RETURN(const bool one_key_head, config.FlagOr("multi_query", true));
  if (one_key_head) spec.kv_heads = 1;
  config.PassOver({"num_key_value_heads"});  // written, and made from multi_query
  spec.learned_positions = spec.max_positions;
  plan.names.qkv = QkvLayout::kPerHead;
  return plan;
}

}  // namespace sinkd
