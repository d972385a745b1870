// A mixture of experts: each row goes to a few MLPs, whose outputs are weighted and added. Internal
// to the engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// `routed` [rows, C] float32 is what the router reads, `in` [rows, C] float32 what the experts do.
// These compute in `type`: the weights' dtype, or float32 whatever the weights are. Returns
// [rows, C] float32.
at::Tensor RunExperts(const DecoderSpec& spec, const BlockWeights& weights,
                      const at::Tensor& routed, const at::Tensor& in, at::ScalarType type);

}  // namespace sinkd
