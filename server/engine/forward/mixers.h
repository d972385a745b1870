// Mixers other than attention: what they add to the stream, and the convolution that they share.
// Each sample gets what it gets alone. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/forward/row_group.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// Of each channel by itself, the sum over the last K positions of its sample times their taps.
// `x` [rows, d] float32; taps and bias as in MixerWeights. Returns [rows, d] float32.
at::Tensor Convolve(const at::Tensor& x, const at::Tensor& taps, const at::Tensor& bias,
                    const RowGroup& group);

// `in` [rows, C], what the mixer reads. Return [rows, C] float32, what it adds.
at::Tensor ShortConvolution(const DecoderSpec& spec, const MixerWeights& weights, at::Tensor in,
                            const RowGroup& group);
at::Tensor GatedDelta(const DecoderSpec& spec, const MixerWeights& weights, at::Tensor in,
                      const RowGroup& group);
at::Tensor Mamba2(const DecoderSpec& spec, const MixerWeights& weights, at::Tensor in,
                  const RowGroup& group);

}  // namespace sinkd
