// granite, granitemoe, granitemoeshared and granitemoehybrid: Granite 3 and 4, dense models and
// mixtures of experts. Multipliers of embedding, residual, attention and logits; Mamba2 in most
// blocks of the hybrid ones. granite_swa and granitemoe_swa: windows in three of four blocks, a
// learned sink for each head, and in each block a separate rotation.
#include "server/engine/families/gated_decoder.h"

#include <algorithm>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/mamba_keys.h"

namespace sinkd {
namespace {

absl::StatusOr<DecoderPlan> PlanAny(const ConfigReader& config,
                                    const GatedDecoderDefaults& defaults = {
                                        .max_positions = 2048}) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, defaults));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  double attention = 1, divisor = 1;
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "attention_multiplier", 1, attention));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "logits_scaling", 1, divisor));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "embedding_multiplier", 1, spec.embedding_scale));
  SINKD_RETURN_IF_ERROR(ReadPositive(config, "residual_multiplier", 1, spec.residual_scale));
  spec.score_scale.assign(spec.score_scale.size(), attention);
  spec.logit_scale = 1 / divisor;
  return plan;
}

// One base per block, 0 for no rotation; where the key is absent, that of rope_parameters in all.
absl::Status ReadBases(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kKey[] = "layer_rope_theta";
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> bases, config.NumberList(kKey));
  if (bases.empty()) return absl::OkStatus();
  if (bases.size() != spec.window.size()) {
    return config.Error(kKey, StrCat("does not hold ", spec.blocks, " numbers"),
                        "list one per block");
  }
  const RopeSpec common = spec.ropes[0];
  spec.ropes.clear();
  for (size_t l = 0; l < bases.size(); ++l) {
    spec.rope_of_block[l] = -1;
    if (bases[l] == 0) continue;
    if (bases[l] <= 1)
      return config.Error(kKey, "holds a base that is not over 1", "set 0 or more");
    const auto same = std::find_if(spec.ropes.begin(), spec.ropes.end(),
                                   [&](const RopeSpec& rope) { return rope.theta == bases[l]; });
    spec.rope_of_block[l] = static_cast<int32_t>(same - spec.ropes.begin());
    if (same != spec.ropes.end()) continue;
    spec.ropes.push_back(common);
    spec.ropes.back().theta = bases[l];
  }
  return absl::OkStatus();
}

absl::Status ReadWindowsAndSinks(const ConfigReader& config, DecoderPlan& plan) {
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 128));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return block % 4 != 0; }, spec));
  SINKD_RETURN_IF_ERROR(ReadBases(config, spec));
  spec.learned_sinks = true;
  plan.names.block.sinks = "self_attn.sinks";
  return absl::OkStatus();
}

absl::Status ReadStackedExperts(const ConfigReader& config, DecoderPlan& plan) {
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", plan.spec));
  plan.spec.experts.routing = Routing::kTopThenSoftmax;
  plan.names.experts = ExpertLayout::kStackedOutIn;
  BlockWeightNames& names = plan.names.block;
  names.router = "block_sparse_moe.router.layer";
  names.expert_gate = "block_sparse_moe.input_linear";
  names.expert_down = "block_sparse_moe.output_linear";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGraniteSwa(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanAny(config, {.kv_heads = 4, .max_positions = 8192, .norm_epsilon = 1e-5, .tied = true}));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  SINKD_RETURN_IF_ERROR(ReadWindowsAndSinks(config, plan));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoeSwa(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGraniteMoeShared(config));
  plan.names.experts = ExpertLayout::kStackedHalves;
  plan.names.block.router = "block_sparse_moe.router";
  plan.names.block.expert_gate = "block_sparse_moe.experts.gate_up_proj";
  plan.names.block.expert_down = "block_sparse_moe.experts.down_proj";
  SINKD_RETURN_IF_ERROR(ReadWindowsAndSinks(config, plan));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGranite(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config));
  SINKD_ASSIGN_OR_RETURN(plan.spec.mlp_bias, config.FlagOr("mlp_bias", false));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoe(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config));
  SINKD_RETURN_IF_ERROR(ReadStackedExperts(config, plan));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoeShared(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGraniteMoe(config));
  SINKD_ASSIGN_OR_RETURN(plan.spec.experts.shared_intermediate,
                         ReadCount(config, "shared_intermediate_size", 0, kMaxWidth));
  plan.names.block.shared_gate = "shared_mlp.input_linear";
  plan.names.block.shared_down = "shared_mlp.output_linear";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanGraniteMoeHybrid(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const std::string positions, config.TextOr("position_embedding_type", ""));
  if (positions != "rope") spec.rope_of_block.assign(spec.rope_of_block.size(), -1);
  config.PassOver({"init_method", "normalization_function"});  // unread
  SINKD_RETURN_IF_ERROR(ReadMixers(
      config, Mixer::kMamba2, [](int64_t) { return true; }, spec));
  SINKD_RETURN_IF_ERROR(ReadMamba(config, plan));
  SINKD_ASSIGN_OR_RETURN(const int64_t experts,
                         ReadCount(config, "num_local_experts", 8, kMaxExperts));
  SINKD_ASSIGN_OR_RETURN(const int64_t shared,
                         config.SizeOr("shared_intermediate_size", 1024, kMaxWidth));
  BlockWeightNames& names = plan.names.block;
  if (experts > 0) {
    SINKD_RETURN_IF_ERROR(ReadStackedExperts(config, plan));
    spec.experts.shared_intermediate = shared;
    names.shared_gate = "shared_mlp.input_linear";
    names.shared_down = "shared_mlp.output_linear";
    return plan;
  }
  config.PassOver({"num_experts_per_tok"});  // without experts
  spec.intermediate = shared;
  plan.names.gate_up = GateUpLayout::kStacked;
  names.gate = "shared_mlp.input_linear";
  names.down = "shared_mlp.output_linear";
  return plan;
}

}  // namespace sinkd
