// qwen3_moe: Qwen3 mixtures of experts. A block is dense when mlp_only_layers or
// decoder_sparse_step says so.
#include <set>

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
  SINKD_ASSIGN_OR_RETURN(const int64_t step, config.SizeOr("decoder_sparse_step", 1, kMaxBlocks));
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> dense, config.NumberList("mlp_only_layers"));
  const std::set<double> listed(dense.begin(), dense.end());
  for (int64_t l = 0; l < spec.blocks; ++l) {
    spec.experts.in_block[static_cast<size_t>(l)] =
        !listed.contains(static_cast<double>(l)) && (l + 1) % step == 0;
  }
  BlockWeightNames& names = plan.names.block;
  names.router = "mlp.gate";
  names.expert_gate = "mlp.experts.{}.gate_proj";
  names.expert_up = "mlp.experts.{}.up_proj";
  names.expert_down = "mlp.experts.{}.down_proj";
  return plan;
}

}  // namespace sinkd
