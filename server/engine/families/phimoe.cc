// phimoe: Phi-3.5-MoE. Layer norms, biases, experts chosen one by one (SparseMixer).
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanPhiMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(
          config, {.kv_heads = 8, .max_positions = 131072, .norm_epsilon = 1e-5, .rope_theta = 0}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, {.theta = 1e6, .mscales = true}, spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_ASSIGN_OR_RETURN(spec.head_bias, config.FlagOr("lm_head_bias", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 0));
  spec.window.assign(spec.window.size(), window);
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", spec));
  if (spec.experts.per_token != 2) {
    return config.Error("num_experts_per_tok", "is not 2, the only number this router selects",
                        "restore config.json from the checkpoint's source");
  }
  SINKD_ASSIGN_OR_RETURN(spec.experts.jitter, config.NumberOr("router_jitter_noise", 0.01));
  config.PassOver({"input_jitter_noise"});  // of training
  spec.experts.routing = Routing::kSparseMixer;
  spec.norm = NormKind::kLayer;
  BlockWeightNames& names = plan.names.block;
  names.router = "block_sparse_moe.gate";
  names.expert_gate = "block_sparse_moe.experts.{}.w1";
  names.expert_up = "block_sparse_moe.experts.{}.w3";
  names.expert_down = "block_sparse_moe.experts.{}.w2";
  return plan;
}

}  // namespace sinkd
