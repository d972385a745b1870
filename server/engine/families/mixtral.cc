// mixtral: Mixtral 8x7B and 8x22B.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanMixtral(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 8,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 1e6}));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 0));
  plan.spec.window.assign(plan.spec.window.size(), window);
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  BlockWeightNames& names = plan.names.block;
  names.router = "block_sparse_moe.gate";
  names.expert_gate = "block_sparse_moe.experts.{}.w1";
  names.expert_up = "block_sparse_moe.experts.{}.w3";
  names.expert_down = "block_sparse_moe.experts.{}.w2";
  return plan;
}

}  // namespace sinkd
