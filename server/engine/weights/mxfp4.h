// MXFP4, the format of gpt-oss's experts: blocks of 32 four-bit floats with a shared power of two
// (OCP Microscaling Formats 1.0). Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// `blocks` [..., groups, 16] uint8, two values per byte, the low half first; `scales` [..., groups]
// uint8, exponents with bias 127. Returns [..., groups * 32] of `dtype`; exact in bfloat16 and
// float32.
at::Tensor UnpackMxfp4(const at::Tensor& blocks, const at::Tensor& scales, at::ScalarType dtype);

}  // namespace sinkd
