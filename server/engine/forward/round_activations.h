// RoundActivations: what a projection reads, rounded to values that a narrow type holds. Internal
// to the engine.
//
// Each group of a row has the scale s = largest |x| / 127.5 (int8) or / 448 (fp8, E4M3), and x
// becomes s * round(x / s), clamped to what the type holds; as compressed-tensors computes it
// (quantization/utils/helpers.py, calculate_qparams), and DeepSeek's act_quant for fp8 by groups.
// Thread-safety: pure function.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/checkpoint/quantized/activation_scheme.h"

namespace sinkd {

// `rows` [n, width] of any type; the result has the same. Without a scheme it is `rows`.
at::Tensor RoundActivations(const ActivationScheme& scheme, const at::Tensor& rows);

}  // namespace sinkd
