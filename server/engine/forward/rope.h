// Rotary position embedding (arXiv 2104.09864). Internal to the engine.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/forward/row_group.h"

namespace sinkd {

// [dimensions / 2] float32, on the CPU, for a sample of `positions` tokens: dynamic and longrope
// scaling depend on it. The arithmetic is in float32 step by step as transformers does it, since
// angles at late positions show every rounding.
at::Tensor InverseFrequencies(const RopeSpec& rope, int64_t positions);

struct RopeTables {
  at::Tensor cos;  // [rows, dimensions / 2] float32, times the attention factor
  at::Tensor sin;
  at::Tensor query_scale;  // [rows], what queries are multiplied by; undefined: nothing
  bool interleaved = false;
  bool last = false;  // the last channels rotate
};

// The tables one forward pass needs, made once each.
class RopeCache {
 public:
  // `spec` is borrowed.
  RopeCache(const DecoderSpec& spec, const at::Device& device) : spec_(spec), device_(device) {}

  // The rotation of block `block` for the rows of a group; nullptr when it has none. Groups of a
  // pass are told apart by their first row.
  const RopeTables* Get(int64_t block, const RowGroup& group);

 private:
  // Of position 0, 1, ... of a sample of `positions` tokens; may have more rows.
  const RopeTables& OfSample(int32_t index, int64_t positions);

  const DecoderSpec& spec_;
  at::Device device_;
  std::map<std::pair<int32_t, int64_t>, RopeTables> of_samples_;  // by rope and tokens
  std::map<std::pair<int32_t, int64_t>, RopeTables> of_groups_;   // by rope and first row
};

// Rotates the first or last channels of `x` [rows, heads, head_size] float32 into `out`, of the
// same shape.
void Rotate(const at::Tensor& x, const RopeTables& tables, at::Tensor out);

}  // namespace sinkd
