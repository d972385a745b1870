// deepseek_v2 and deepseek_v3: DeepSeek-V2 and V2-Lite, V3, R1 and V3.1, Kimi K2. Latent attention;
// experts in groups, and those that every token passes.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/latent_decoder.h"

namespace sinkd {
namespace {

// Softmax over all experts; by group_limited_greedy only those of some groups count, which their
// best expert ranks.
absl::Status ReadSoftmaxRouter(const ConfigReader& config, DecoderSpec& spec) {
  ExpertSpec& experts = spec.experts;
  experts.renormalize = false;
  SINKD_ASSIGN_OR_RETURN(const bool renormalize, config.FlagOr("norm_topk_prob", false));
  if (renormalize) {
    return config.Error("norm_topk_prob", "is true, which transformers does not compute",
                        "use a model without it");
  }
  SINKD_ASSIGN_OR_RETURN(experts.scale, config.NumberOr("routed_scaling_factor", 1));
  SINKD_ASSIGN_OR_RETURN(const std::string method, config.TextOr("topk_method", "greedy"));
  if (method == "group_limited_greedy") {
    experts.group_best = 1;
    return ReadGroups(config, {}, experts);
  }
  config.PassOver({"n_group", "topk_group"});
  if (method == "greedy") return absl::OkStatus();
  return config.Error("topk_method", "is not a way to select experts that this family has",
                      "use greedy or group_limited_greedy");
}

// A key of the models' own code.
absl::Status CheckEveryBlockSparse(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const int64_t step, config.SizeOr("moe_layer_freq", 1, kMaxBlocks));
  if (step == 1) return absl::OkStatus();
  return config.Error("moe_layer_freq", "is not 1, the only one that is computed",
                      "use a model with it");
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanDeepseekV2(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanLatentDecoder(config, {.heads = 32, .max_positions = 2048}, {.interleaved_key = false}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.mlp_bias, config.FlagOr("mlp_bias", false));
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(ReadSoftmaxRouter(config, spec));
  SINKD_RETURN_IF_ERROR(CheckOnly(config, "scoring_func", "softmax"));
  SINKD_RETURN_IF_ERROR(CheckEveryBlockSparse(config));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 2, spec));
  SINKD_RETURN_IF_ERROR(ReadFirstDense(config, 0, spec));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

absl::StatusOr<DecoderPlan> PlanDeepseekV3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanLatentDecoder(config, {.heads = 128, .kv_heads = 128, .max_positions = 4096}, {}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  SINKD_RETURN_IF_ERROR(
      ReadSigmoidRouter(config, {.scale = 2.5, .groups = 8, .groups_chosen = 4}, spec));
  SINKD_RETURN_IF_ERROR(CheckOnly(config, "scoring_func", "sigmoid"));
  SINKD_RETURN_IF_ERROR(CheckOnly(config, "topk_method", "noaux_tc"));
  SINKD_RETURN_IF_ERROR(CheckEveryBlockSparse(config));
  SINKD_RETURN_IF_ERROR(ReadShared(config, "n_shared_experts", 1, spec));
  SINKD_RETURN_IF_ERROR(ReadFirstDense(config, 3, spec));
  SINKD_RETURN_IF_ERROR(ReadFurtherBlocks(config, 1, plan));
  NameExperts(plan.names.block);
  NameShared("mlp.shared_experts", plan.names.block);
  return plan;
}

}  // namespace sinkd
