// hunyuan_v1_dense and hunyuan_v1_moe: Hunyuan 0.5B to 7B, and A13B. Norms on q and k after they
// are rotated.
#include "server/engine/families/gated_decoder.h"

#include <algorithm>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

namespace {

// How many experts a token goes to: a number, or a list with one for each block, all the same.
absl::Status ReadPerToken(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kRestore[] = "restore config.json from its source";
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(const std::string_view key,
                         EitherKey(config, "moe_topk", "num_experts_per_tok"));
  if (!config.HasValue(key)) return config.Error(key, "is missing", kRestore);
  const absl::StatusOr<std::vector<double>> list = config.NumberList(key);
  if (!list.ok()) {
    SINKD_ASSIGN_OR_RETURN(experts.per_token, config.Size(key, experts.count));
    return absl::OkStatus();
  }
  if (list->size() != spec.window.size()) {
    return config.Error(key, StrCat("does not hold ", spec.blocks, " numbers"), kRestore);
  }
  if (std::count(list->begin(), list->end(), list->front()) != spec.blocks) {
    return config.Error(key, "differs between blocks, which is not computed",
                        "use a model whose tokens go to as many experts in every block");
  }
  experts.per_token = static_cast<int64_t>(list->front());
  if (static_cast<double>(experts.per_token) == list->front() && experts.per_token > 0 &&
      experts.per_token <= experts.count) {
    return absl::OkStatus();
  }
  return config.Error(key, StrCat("holds no integer from 1 to ", experts.count), kRestore);
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanHunyuan(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config, {.max_positions = 2048, .norm_epsilon = 1e-5, .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, {.fixed_alpha = true}, plan.spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kPerHead;
  plan.spec.head_norms_after_rotary = true;
  plan.names.block.q_norm = "self_attn.query_layernorm";
  plan.names.block.k_norm = "self_attn.key_layernorm";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanHunyuanMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanHunyuan(config));
  DecoderSpec& spec = plan.spec;
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(const std::string_view count,
                         EitherKey(config, "num_local_experts", "num_experts"));
  SINKD_ASSIGN_OR_RETURN(experts.count, config.Size(count, kMaxExperts));
  SINKD_RETURN_IF_ERROR(ReadPerToken(config, spec));
  experts.intermediate = spec.intermediate;
  experts.in_block.assign(spec.window.size(), true);
  spec.experts.shared_intermediate = spec.intermediate;
  NameExperts(plan.names.block);
  NameShared("mlp.shared_mlp", plan.names.block);
  plan.names.block.router = "mlp.gate.wg";
  return plan;
}

}  // namespace sinkd
