// qwen2_moe: Qwen1.5-MoE and Qwen2-57B-A14B. A shared expert times a sigmoid of its own.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanQwen2Moe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.heads = 16, .kv_heads = 16, .max_positions = 32768}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("qkv_bias", true));
  SINKD_ASSIGN_OR_RETURN(const bool use, config.FlagOr("use_sliding_window", false));
  // transformers writes 0 where windows are off.
  SINKD_ASSIGN_OR_RETURN(const double stored, config.NumberOr("sliding_window", 4096));
  if (use && stored == 0) {
    return config.Error("sliding_window", "is 0, and use_sliding_window is true",
                        "set the window, or use_sliding_window to false");
  }
  int64_t window = 0;
  if (use) {
    SINKD_ASSIGN_OR_RETURN(window, ReadWindow(config, 4096));
  }
  SINKD_ASSIGN_OR_RETURN(const double last, config.NumberOr("max_window_layers", 28));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window,
      [window, last](int64_t block) {
        return window > 0 && block % 2 == 0 && static_cast<double>(block) < last;
      },
      spec));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec));
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(experts.renormalize, config.FlagOr("norm_topk_prob", false));
  SINKD_ASSIGN_OR_RETURN(experts.shared_intermediate,
                         config.SizeOr("shared_expert_intermediate_size", 5632, kMaxWidth));
  experts.shared_gate = true;
  SINKD_RETURN_IF_ERROR(ReadSparseBlocks(config, spec));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_expert", plan.names.block);
  plan.names.block.shared_router = "mlp.shared_expert_gate";
  return plan;
}

}  // namespace sinkd
