#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults) {
  DecoderPlan plan{.spec = {}, .names = LlamaNames()};
  const SizeKeys keys{.heads_absent = defaults.heads, .vocabulary_absent = defaults.vocabulary};
  SINKD_ASSIGN_OR_RETURN(plan.spec, ReadSizes(config, keys, defaults.max_positions, defaults.tied));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadHeads(config, defaults.kv_heads, defaults.head_size, spec));
  SINKD_RETURN_IF_ERROR(ReadActivation(config, defaults.activation_key, defaults.activation, spec));
  SINKD_RETURN_IF_ERROR(ReadNormEpsilon(config, "rms_norm_eps", defaults.norm_epsilon, spec));
  if (defaults.rope_theta > 0) {
    SINKD_RETURN_IF_ERROR(ReadRopeForAll(config, {.theta = defaults.rope_theta}, spec));
  }
  return plan;
}

absl::Status ReadAttentionBias(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(spec.qkv_bias, config.FlagOr("attention_bias", false));
  spec.output_bias = spec.qkv_bias;
  return absl::OkStatus();
}

absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool use, config.FlagOr("use_sliding_window", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t written, ReadWindow(config, 4096));
  SINKD_ASSIGN_OR_RETURN(const double first, config.NumberOr("max_window_layers", 28));
  const int64_t window = use ? written : 0;
  const auto slides = [window, first](int64_t block) {
    return window > 0 && static_cast<double>(block) >= first;
  };
  return ReadWindows(config, window, slides, spec);
}

absl::Status ReadExperts(const ConfigReader& config, std::string_view width_key,
                         DecoderSpec& spec) {
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(const std::string_view count,
                         EitherKey(config, "num_local_experts", "num_experts"));
  SINKD_ASSIGN_OR_RETURN(experts.count, config.Size(count, kMaxExperts));
  SINKD_ASSIGN_OR_RETURN(experts.intermediate, config.Size(width_key, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(const std::string_view per_token,
                         EitherKey(config, "num_experts_per_tok", "experts_per_token"));
  SINKD_ASSIGN_OR_RETURN(experts.per_token, config.Size(per_token, experts.count));
  experts.in_block.assign(static_cast<size_t>(spec.blocks), true);
  return absl::OkStatus();
}

}  // namespace sinkd
