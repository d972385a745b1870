// qwen3_moe: Qwen3 mixtures of experts. A block is dense when mlp_only_layers or
// decoder_sparse_step says so.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanQwen3Moe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 4, .max_positions = 32768}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  spec.head_norms = HeadNorms::kPerHead;
  SINKD_ASSIGN_OR_RETURN(const bool slides, config.FlagOr("use_sliding_window", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  if (slides) spec.window.assign(static_cast<size_t>(spec.blocks), window);
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec));
  SINKD_ASSIGN_OR_RETURN(spec.experts.renormalize, config.FlagOr("norm_topk_prob", false));
  SINKD_RETURN_IF_ERROR(ReadSparseBlocks(config, spec));
  NameExperts(plan.names.block);
  return plan;
}

}  // namespace sinkd
