// What GPT-2 and its descendants share: layer norms, an MLP without gate, no rotation, and names.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/families/gated_decoder.h"

namespace sinkd {

// How a family fills the keys a config leaves out, and what it calls its tensors.
struct GptDefaults {
  int64_t max_positions = 1024;
  bool tied = true;
  std::string_view activation = "gelu_new";
  std::string_view up = "mlp.c_fc";
  std::string_view down = "mlp.c_proj";
};

// Embeddings, blocks and layer norms as all of them name these; an MLP without gate of two layers,
// `up` and `down`.
void NameGptTensors(std::string_view up, std::string_view down, DecoderPlan& plan);

// Sizes under their short or their usual keys, norms, activation and names, all with biases.
absl::StatusOr<DecoderPlan> PlanGptDecoder(const ConfigReader& config, const GptDefaults& defaults);

}  // namespace sinkd
