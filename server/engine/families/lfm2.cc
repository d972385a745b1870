// lfm2 and lfm2_moe: LFM2 of Liquid AI. Short convolutions between the blocks that attend.
#include <cmath>
#include <set>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

// The width is made from what the file says, unless block_auto_adjust_ff_dim is false.
absl::Status ReadWidth(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool adjust, config.FlagOr("block_auto_adjust_ff_dim", true));
  double factor = 0;  // null: the width is rounded to no multiple either
  if (config.HasValue("block_ffn_dim_multiplier") || !config.Has("block_ffn_dim_multiplier")) {
    SINKD_RETURN_IF_ERROR(ReadPositive(config, "block_ffn_dim_multiplier", 1, factor));
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t multiple,
                         config.SizeOr("block_multiple_of", 256, kMaxWidth));
  if (!adjust) return absl::OkStatus();
  spec.intermediate = 2 * spec.intermediate / 3;
  if (factor > 0) {
    const double width = std::floor(factor * static_cast<double>(spec.intermediate));
    if (width > static_cast<double>(kMaxWidth)) {
      return config.Error("block_ffn_dim_multiplier", StrCat("makes MLPs wider than ", kMaxWidth),
                          "restore config.json from the checkpoint's source");
    }
    spec.intermediate = (static_cast<int64_t>(width) + multiple - 1) / multiple * multiple;
  }
  if (spec.intermediate > 0) return absl::OkStatus();
  return config.Error("intermediate_size", "leaves an MLP no units", "set a larger width");
}

// `width` is the key of the MLP's.
absl::StatusOr<DecoderPlan> PlanAny(const ConfigReader& config, std::string_view width,
                                    const std::function<bool(int64_t)>& convolves) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 8,
                                                                     .max_positions = 128000,
                                                                     .norm_epsilon = 1e-5,
                                                                     .norm_key = "norm_eps",
                                                                     .rope_theta = 1e6,
                                                                     .tied = true,
                                                                     .activation_key = "",
                                                                     .intermediate_key = width}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.tied_head, config.FlagOr("tie_embedding", spec.tied_head));
  SINKD_RETURN_IF_ERROR(ReadMixers(config, Mixer::kShortConvolution, convolves, spec));
  SINKD_ASSIGN_OR_RETURN(spec.convolution_taps, config.SizeOr("conv_L_cache", 3, kMaxTaps));
  // Written by the older of its files, and read by nothing.
  config.PassOver({"block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale",
                   "block_use_swiglu", "block_use_xavier_init", "conv_dim", "conv_dim_out",
                   "conv_use_xavier_init", "num_heads", "use_pos_enc"});
  SINKD_ASSIGN_OR_RETURN(spec.convolution_bias, config.FlagOr("conv_bias", false));
  spec.head_norms = HeadNorms::kPerHead;
  plan.names.final_norm = "model.embedding_norm";
  BlockWeightNames& names = plan.names.block;
  names.attention_norm = "operator_norm";
  names.mlp_norm = "ffn_norm";
  names.o = "self_attn.out_proj";
  names.q_norm = "self_attn.q_layernorm";
  names.k_norm = "self_attn.k_layernorm";
  names.mixer_in = "conv.in_proj";
  names.mixer_out = "conv.out_proj";
  names.convolution = "conv.conv";
  names.gate = "feed_forward.w1";
  names.up = "feed_forward.w3";
  names.down = "feed_forward.w2";
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanLfm2(const ConfigReader& config) {
  const char* const width = config.HasValue("block_ff_dim") ? "block_ff_dim" : "intermediate_size";
  config.PassOver({"intermediate_size"});  // beside block_ff_dim, which goes first
  const bool listed = config.HasValue("full_attn_idxs");
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> attending, config.NumberList("full_attn_idxs"));
  const std::set<double> blocks(attending.begin(), attending.end());
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanAny(config, width, [&](int64_t block) {
                           return listed && !blocks.contains(static_cast<double>(block));
                         }));
  SINKD_RETURN_IF_ERROR(ReadWidth(config, plan.spec));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanLfm2Moe(const ConfigReader& config) {
  if (!config.HasValue("layer_types")) {
    return config.Error("layer_types", "is missing",
                        "restore config.json from the checkpoint's source");
  }
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanAny(config, "intermediate_size", [](int64_t) { return false; }));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec));
  ExpertSpec& experts = spec.experts;
  experts.routing = Routing::kSigmoidThenTop;
  experts.added_to_sum = 1e-6;
  SINKD_ASSIGN_OR_RETURN(experts.correction, config.FlagOr("use_expert_bias", true));
  SINKD_ASSIGN_OR_RETURN(experts.renormalize, config.FlagOr("norm_topk_prob", true));
  SINKD_ASSIGN_OR_RETURN(experts.scale, config.NumberOr("routed_scaling_factor", 1));
  SINKD_RETURN_IF_ERROR(ReadFirstDense(config, 2, spec, "num_dense_layers"));
  BlockWeightNames& names = plan.names.block;
  names.router = "feed_forward.gate";
  names.router_correction = "feed_forward.expert_bias";
  names.expert_gate = "feed_forward.experts.{}.w1";
  names.expert_up = "feed_forward.experts.{}.w3";
  names.expert_down = "feed_forward.experts.{}.w2";
  return plan;
}

}  // namespace sinkd
