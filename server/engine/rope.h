// Rotary position embedding (arXiv 2104.09864), halves layout. Internal to the engine.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// [dimensions / 2] float32, on the CPU, for a sample of `positions` tokens: dynamic and longrope
// scaling depend on it. The arithmetic is in float32 step by step as transformers does it, since
// angles at late positions show every rounding.
at::Tensor InverseFrequencies(const RopeSpec& rope, int64_t positions);

struct RopeTables {
  at::Tensor cos;  // [positions, dimensions / 2] float32, times the attention factor
  at::Tensor sin;
};

// The tables one forward pass needs, made once each.
class RopeCache {
 public:
  // `spec` is borrowed.
  RopeCache(const DecoderSpec& spec, const at::Device& device) : spec_(spec), device_(device) {}

  // The rotation of block `block` for a sample of `positions` tokens; nullptr when it has none.
  const RopeTables* Get(int64_t block, int64_t positions);

 private:
  const DecoderSpec& spec_;
  at::Device device_;
  std::map<std::pair<int32_t, int64_t>, RopeTables> tables_;
};

// Rotates the first channels of `x` [T, heads, head_size] float32; returns a new tensor.
at::Tensor Rotate(const at::Tensor& x, const RopeTables& tables);

}  // namespace sinkd
