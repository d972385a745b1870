// RMS norm (arXiv 1910.07467). Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// w * (x / rms(x)) over the last axis, in float32 whatever goes in.
at::Tensor WideRmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

// The same, rounded once to the weight's dtype: with bfloat16 weights nearer to float32 than
// rounding before and after the weight would be.
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

}  // namespace sinkd
