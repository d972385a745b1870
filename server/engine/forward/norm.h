// The norms of a decoder. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

struct NormWeights {
  at::Tensor weight;  // [width], [heads, width] or [] = 1; undefined where there is no such norm
  at::Tensor bias;    // [width], of layer norms that have one
};

// The norm over the last axis, in float32 whatever goes in; `x` itself without a norm. With
// bfloat16 weights, rounding its result once stays nearer to float32 than rounding before and after
// the weight would. Also of rows whose squares float32 cannot hold, from 1e-38 to 1e38.
at::Tensor Normalize(NormKind kind, const at::Tensor& x, const NormWeights& norm, double epsilon);

// The Euclidean norm of each row of [rows, C], in float32: [rows]. As above.
at::Tensor EuclideanNorms(const at::Tensor& rows);

}  // namespace sinkd
