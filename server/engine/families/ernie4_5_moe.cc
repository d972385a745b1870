// ernie4_5_moe: ERNIE 4.5 mixtures. Experts chosen with a correction, those that every token
// passes; interleaved rotary.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanErnieMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.heads = 20,
                                                                     .kv_heads = 4,
                                                                     .max_positions = 131072,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 500000,
                                                                     .rope_interleaved = true,
                                                                     .tied = true}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const bool bias, config.FlagOr("use_bias", false));
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = bias;
  SINKD_RETURN_IF_ERROR(
      ReadExperts(config, "moe_intermediate_size", spec, "moe_num_experts", "moe_k"));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "moe_num_shared_experts", 2, spec));
  SINKD_ASSIGN_OR_RETURN(spec.experts.least_sum, config.NumberOr("moe_norm_min", 1e-12));
  SINKD_ASSIGN_OR_RETURN(const double first, config.NumberOr("moe_layer_start_index", 1));
  SINKD_ASSIGN_OR_RETURN(const double written, config.NumberOr("moe_layer_end_index", -1));
  SINKD_ASSIGN_OR_RETURN(const int64_t step, config.SizeOr("moe_layer_interval", 1, kMaxBlocks));
  const double last = written == -1 ? static_cast<double>(spec.blocks) - 1 : written;
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const auto at = static_cast<double>(l);
    spec.experts.in_block[static_cast<size_t>(l)] =
        (l + 1) % step == 0 && at >= first && at <= last;
  }
  spec.experts.correction = true;
  plan.names.correction_in_row = true;
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  plan.names.block.router_correction = "mlp.moe_statics.e_score_correction_bias";
  return plan;
}

}  // namespace sinkd
