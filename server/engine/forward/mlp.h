// What a block's MLP adds to the residual stream, dense or a mixture of experts. Internal to the
// engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/taps/block_tap.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// Whether gate, up and activation stay within the products with their weights, unless somebody asks
// for them: of a dense MLP in bfloat16 on the CPU (FusesActivations).
bool FusesUnits(const DecoderSpec& spec, bool on_cpu, bool narrow);

// How many rows of such a model's MLP are to be computed at once.
int64_t MlpRows(const DecoderSpec& spec, bool on_cpu, bool narrow);

// `in` [rows, C] float32, what the MLP reads; rows begin at `first_row` of the packed batch.
// `stream` [rows, C] float32, what the result will be added to, and what experts beside an MLP
// read.
// Returns [rows, C] float32, after the norm that may follow the MLP. Taps kGate to kProduct of a
// dense MLP on the way.
at::Tensor RunMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                  const at::Tensor& stream, const BlockTap& tap, int64_t first_row);

}  // namespace sinkd
