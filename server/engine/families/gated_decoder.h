// What llama and its descendants share: pre-norm blocks with rotary attention and a gated MLP.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/families/family.h"

namespace sinkd {

// How a family fills the keys a config leaves out.
struct GatedDecoderDefaults {
  int64_t kv_heads = 0;   // 0: as many as query heads
  int64_t head_size = 0;  // 0: hidden / heads
  int64_t max_positions = 0;
};

// Sizes, rotary, activation, dtype and the weight names; biases, norms and windows are the
// family's.
absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults);

// Fills spec.window from layer_types, or from use_sliding_window, sliding_window and
// max_window_layers (Qwen2 and Qwen3).
absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec);

}  // namespace sinkd
