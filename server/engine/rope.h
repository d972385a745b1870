// Rotary position embedding (arXiv 2104.09864), halves layout. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// [head_size / 2] float32, on the CPU. The arithmetic is in float32 step by step as transformers
// does it, since angles at late positions show every rounding.
at::Tensor InverseFrequencies(const RopeSpec& rope, int64_t head_size);

struct RopeTables {
  at::Tensor cos;  // [positions, head_size / 2] float32, times the attention factor
  at::Tensor sin;
};

RopeTables MakeRopeTables(const at::Tensor& inverse_frequencies, double attention_factor,
                          int64_t positions, const at::Device& device);

// Rotates `x` [T, heads, head_size] float32 by the first T rows of the tables; returns a new
// tensor.
at::Tensor Rotate(const at::Tensor& x, const RopeTables& tables);

}  // namespace sinkd
