#include "server/engine/families/gated_decoder.h"

#include <cmath>
#include <set>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults) {
  DecoderPlan plan{.spec = {}, .names = LlamaNames()};
  const SizeKeys keys{.intermediate = defaults.intermediate_key,
                      .blocks_absent = defaults.blocks,
                      .heads_absent = defaults.heads,
                      .vocabulary_absent = defaults.vocabulary};
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, defaults.max_positions, defaults.tied));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadHeads(config, defaults.kv_heads, defaults.head_size, spec));
  if (!defaults.activation_key.empty()) {
    SINKD_RETURN_IF_ERROR(
        ReadActivation(config, defaults.activation_key, defaults.activation, spec));
  }
  if (defaults.norm_key.empty()) {
    spec.norm_epsilon = defaults.norm_epsilon;
  } else {
    SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, defaults.norm_key, defaults.norm_epsilon, spec));
  }
  if (defaults.rope_theta > 0) {
    RopeDefaults rope{.theta = defaults.rope_theta, .interleaved = defaults.rope_interleaved};
    if (defaults.rope_partial > 0) {
      rope.partial = defaults.rope_partial;
      rope.partial_key = "partial_rotary_factor";
    }
    SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, rope, spec));
  }
  return plan;
}

absl::Status ReadPositive(const ConfigReader& config, std::string_view key, double absent,
                          double& value) {
  SINKD_ASSIGN_OR_RETURN(value, config.NumberOr(key, absent));
  if (value > 0) return absl::OkStatus();
  return config.Error(key, "is not positive", "set a number over 0");
}

void LeaveOutGate(std::string_view up, std::string_view down, DecoderPlan& plan) {
  plan.spec.gating = Gating::kNone;
  plan.names.block.up = up;
  plan.names.block.down = down;
}

void NormAfterOnly(DecoderPlan& plan) {
  plan.spec.input_norms = false;
  plan.spec.output_norms = true;
  plan.names.block.attention_output_norm = "post_attention_layernorm";
  plan.names.block.mlp_output_norm = "post_feedforward_layernorm";
}

void RotateWhereWindowed(DecoderSpec& spec) {
  for (size_t l = 0; l < spec.window.size(); ++l)
    spec.rope_of_block[l] = spec.window[l] > 0 ? 0 : -1;
}

absl::StatusOr<DecoderPlan> RotateByLayerType(const ConfigReader& config, RopeDefaults full,
                                              RopeDefaults sliding, DecoderPlan plan) {
  DecoderSpec& spec = plan.spec;
  full.layer_type = "full_attention";
  sliding.layer_type = "sliding_attention";
  for (RopeDefaults* defaults : {&full, &sliding}) {
    if (defaults->head_size == 0) defaults->head_size = spec.head_size;
    defaults->max_positions = spec.max_positions;
    SINKD_ASSIGN_OR_RETURN(RopeSpec rope, ReadRope(config, *defaults));
    spec.ropes.push_back(std::move(rope));
  }
  for (size_t l = 0; l < spec.window.size(); ++l)
    spec.rope_of_block[l] = spec.window[l] > 0 ? 1 : 0;
  return plan;
}

void ReadOneNorm(DecoderPlan& plan) {
  plan.spec.wiring = Wiring::kParallel;
  plan.names.block.mlp_norm = plan.names.block.attention_norm;
}

absl::Status ReadAttentionBias(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", false));
  spec.output_bias = spec.qkv_bias;
  return absl::OkStatus();
}

absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec,
                             double max_window_layers) {
  SINKD_ASSIGN_OR_RETURN(const bool use, config.FlagOr("use_sliding_window", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t written, ReadWindow(config, 4096));
  SINKD_ASSIGN_OR_RETURN(const double first,
                         config.NumberOr("max_window_layers", max_window_layers));
  const int64_t window = use ? written : 0;
  const auto slides = [window, first](int64_t block) {
    return window > 0 && static_cast<double>(block) >= first;
  };
  return ReadWindows(config, window, slides, spec);
}

absl::Status ReadExperts(const ConfigReader& config, std::string_view width_key, DecoderSpec& spec,
                         std::string_view count_key, std::string_view per_token_key) {
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(const std::string_view count,
                         EitherKey(config, "num_local_experts", count_key));
  SINKD_ASSIGN_OR_RETURN(experts.count, config.Size(count, kMaxExperts));
  SINKD_ASSIGN_OR_RETURN(experts.intermediate, config.Size(width_key, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(const std::string_view per_token,
                         EitherKey(config, "num_experts_per_tok", per_token_key));
  SINKD_ASSIGN_OR_RETURN(experts.per_token, config.Size(per_token, experts.count));
  experts.in_block.assign(static_cast<size_t>(spec.blocks), true);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadCount(const ConfigReader& config, std::string_view key, int64_t absent,
                                  int64_t maximum) {
  SINKD_ASSIGN_OR_RETURN(const double count, config.NumberOr(key, static_cast<double>(absent)));
  if (count >= 0 && count <= static_cast<double>(maximum) && count == std::floor(count)) {
    return static_cast<int64_t>(count);
  }
  return config.Error(key, StrCat("is not an integer from 0 to ", maximum),
                      "restore config.json from the checkpoint's source");
}

absl::Status ReadShared(const ConfigReader& config, std::string_view count_key, int64_t absent,
                        DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const int64_t count, ReadCount(config, count_key, absent, kMaxExperts));
  spec.experts.shared_intermediate = count * spec.experts.intermediate;
  return absl::OkStatus();
}

absl::Status ReadSigmoidRouter(const ConfigReader& config, const RouterDefaults& defaults,
                               DecoderSpec& spec) {
  ExpertSpec& experts = spec.experts;
  experts.routing = Routing::kSigmoidThenTop;
  experts.correction = true;
  SINKD_ASSIGN_OR_RETURN(experts.renormalize,
                         config.FlagOr("norm_topk_prob", defaults.renormalize));
  SINKD_ASSIGN_OR_RETURN(experts.scale, config.NumberOr("routed_scaling_factor", defaults.scale));
  return ReadGroups(config, defaults, experts);
}

absl::Status ReadGroups(const ConfigReader& config, const RouterDefaults& defaults,
                        ExpertSpec& experts) {
  SINKD_ASSIGN_OR_RETURN(experts.groups, config.SizeOr("n_group", defaults.groups, experts.count));
  SINKD_ASSIGN_OR_RETURN(experts.groups_chosen,
                         config.SizeOr("topk_group", defaults.groups_chosen, experts.groups));
  if (experts.count % experts.groups != 0 || experts.count / experts.groups < experts.group_best) {
    return config.Error("n_group", StrCat("does not cut ", experts.count, " experts into groups"),
                        StrCat("set a number that divides that of the experts, ",
                               experts.group_best, " a group at least"));
  }
  if (experts.per_token > experts.groups_chosen * (experts.count / experts.groups)) {
    return config.Error("topk_group",
                        StrCat("leaves fewer experts than num_experts_per_tok, ", experts.per_token,
                               ": n_group is ", experts.groups),
                        "set a larger number");
  }
  return absl::OkStatus();
}

absl::Status ReadSparseBlocks(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const int64_t step, config.SizeOr("decoder_sparse_step", 1, kMaxBlocks));
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> dense, config.NumberList("mlp_only_layers"));
  const std::set<double> listed(dense.begin(), dense.end());
  for (int64_t l = 0; l < spec.blocks; ++l) {
    spec.experts.in_block[static_cast<size_t>(l)] =
        !listed.contains(static_cast<double>(l)) && (l + 1) % step == 0;
  }
  return absl::OkStatus();
}

absl::Status ReadFurtherBlocks(const ConfigReader& config, int64_t absent, DecoderPlan& plan) {
  SINKD_ASSIGN_OR_RETURN(const std::string_view key,
                         EitherKey(config, "num_nextn_predict_layers", "num_mtp_layers"));
  SINKD_ASSIGN_OR_RETURN(plan.names.unused_blocks, ReadCount(config, key, absent, kMaxBlocks));
  return absl::OkStatus();
}

absl::Status ReadFirstDense(const ConfigReader& config, int64_t absent, DecoderSpec& spec,
                            std::string_view key) {
  SINKD_ASSIGN_OR_RETURN(const double dense, config.NumberOr(key, static_cast<double>(absent)));
  for (int64_t l = 0; l < spec.blocks; ++l) {
    spec.experts.in_block[static_cast<size_t>(l)] = static_cast<double>(l) >= dense;
  }
  return absl::OkStatus();
}

absl::Status ReadMlpTypes(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kKey[] = "mlp_layer_types";
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, config.TextList(kKey));
  if (!types.empty() && types.size() != spec.window.size()) {
    return config.Error(kKey, StrCat("does not name ", spec.blocks, " blocks"),
                        "list one type per block");
  }
  for (size_t l = 0; l < spec.window.size(); ++l) {
    spec.experts.in_block[l] = types.empty() ? l > 0 : types[l] == "sparse";
    if (types.empty() || types[l] == "sparse" || types[l] == "dense") continue;
    return config.Error(kKey, StrCat("names ", Shorten(types[l]), ", which is not a type of MLP"),
                        "use dense or sparse");
  }
  return absl::OkStatus();
}

void NameExperts(BlockWeightNames& names) {
  names.router = "mlp.gate";
  names.router_correction = "mlp.gate.e_score_correction_bias";
  names.expert_gate = "mlp.experts.{}.gate_proj";
  names.expert_up = "mlp.experts.{}.up_proj";
  names.expert_down = "mlp.experts.{}.down_proj";
}

void NameShared(const std::string& module, BlockWeightNames& names) {
  names.shared_gate = module + ".gate_proj";
  names.shared_up = module + ".up_proj";
  names.shared_down = module + ".down_proj";
}

}  // namespace sinkd
