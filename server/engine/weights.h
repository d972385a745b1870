// The weights of a decoder on their device, as the forward pass wants them: projections that read
// the same input are fused along their output axis. Internal to the engine.
//
// Row-major [out, in], as torch's linear takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/checkpoint.h"
#include "server/engine/families/family.h"
#include "server/engine/model.h"

namespace sinkd {

struct BlockWeights {
  at::Tensor attention_norm;         // [C]
  at::Tensor qkv, qkv_bias;          // [(H + 2K) D, C], [(H + 2K) D] or undefined
  at::Tensor q_norm, k_norm;         // [D] or undefined
  at::Tensor output, output_bias;    // [C, H D], [C] or undefined
  at::Tensor mlp_norm;               // [C]
  at::Tensor gate_up, gate_up_bias;  // [2 I, C], [2 I] or undefined
  at::Tensor down, down_bias;        // [C, I], [C] or undefined
};

struct DecoderWeights {
  at::Tensor embedding;   // [vocabulary, C]
  at::Tensor final_norm;  // [C]
  std::vector<BlockWeights> blocks;
  int64_t bytes = 0;
  std::vector<std::string> warnings;
};

// Reads every tensor the plan names, checks shape, dtype and finiteness, casts to `dtype`. No head
// is loaded: no analysis runs one.
// Errors: FAILED_PRECONDITION naming the tensor; CANCELLED.
absl::StatusOr<DecoderWeights> LoadWeights(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                           at::ScalarType dtype, const at::Device& device,
                                           const std::function<void(const LoadProgress&)>& progress,
                                           const std::stop_token& stop);

}  // namespace sinkd
