// minimax_m2: MiniMax-M2. Experts chosen by sigmoids with a correction; norms over all of q and of
// k, partial rotary.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanMiniMaxM2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 48,
                                                                     .kv_heads = 8,
                                                                     .head_size = 128,
                                                                     .max_positions = 196608,
                                                                     .rope_theta = 0}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const int64_t rotated,
                         config.SizeOr("rotary_dim", spec.head_size, spec.head_size));
  const double share = static_cast<double>(rotated) / static_cast<double>(spec.head_size);
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(
      config, {.theta = 5e6, .partial = share, .partial_key = "partial_rotary_factor"}, spec));
  spec.head_norms = HeadNorms::kWhole;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", spec));
  spec.experts.routing = Routing::kSigmoidThenTop;
  spec.experts.correction = true;
  BlockWeightNames& names = plan.names.block;
  names.router = "block_sparse_moe.gate";
  names.router_correction = "block_sparse_moe.e_score_correction_bias";
  names.expert_gate = "block_sparse_moe.experts.{}.w1";
  names.expert_up = "block_sparse_moe.experts.{}.w3";
  names.expert_down = "block_sparse_moe.experts.{}.w2";
  return plan;
}

}  // namespace sinkd
