// What llama and its descendants share: RMS norms, rotary attention, a gated MLP.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/families/decoder_keys.h"

namespace sinkd {

// How a family fills the keys a config leaves out.
struct GatedDecoderDefaults {
  int64_t heads = 0;       // 0: the key is required
  int64_t vocabulary = 0;  // 0: the key is required
  int64_t kv_heads = 0;    // 0: as many as query heads
  int64_t head_size = 0;   // 0: hidden / heads
  int64_t max_positions = 0;
  double norm_epsilon = 1e-6;
  double rope_theta = 10000.0;  // 0: the family reads its rotary settings itself
  bool tied = false;
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
};

// Sizes, heads, rotary, norms, activation and llama's weight names; the rest is the family's.
absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults);

// attention_bias for q, k, v and o alike.
absl::Status ReadAttentionBias(const ConfigReader& config, DecoderSpec& spec);

// Windows of Qwen2 and Qwen3: only where use_sliding_window says so, from max_window_layers on.
absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec);

// The router and the experts of a block: how many, how many a token goes to, how wide. Their number
// is num_local_experts or num_experts: transformers takes both and writes either.
absl::Status ReadExperts(const ConfigReader& config, std::string_view width_key, DecoderSpec& spec);

}  // namespace sinkd
