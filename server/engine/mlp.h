// What a block's MLP adds to the residual stream, dense or a mixture of experts. Internal to the
// engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/block_tap.h"
#include "server/engine/decoder_spec.h"
#include "server/engine/weights.h"

namespace sinkd {

// `in` [rows, C] float32, what the MLP reads; rows begin at `first_row` of the packed batch.
// `stream` [rows, C] float32, what the result will be added to; undefined for nothing.
// Returns [rows, C] float32, after the norm that may follow the MLP. Taps kGate to kProduct of a
// dense MLP on the way.
at::Tensor RunMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                  const at::Tensor& stream, const BlockTap& tap, int64_t first_row);

}  // namespace sinkd
