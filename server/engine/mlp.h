// The gated MLP of a block, rows at a time. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/block_tap.h"
#include "server/engine/decoder_spec.h"
#include "server/engine/weights.h"

namespace sinkd {

// x [N, C] plus the MLP's output, as a new tensor; taps kMlpIn to kMlpOut on the way.
at::Tensor AddMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& x,
                  const BlockTap& tap);

}  // namespace sinkd
