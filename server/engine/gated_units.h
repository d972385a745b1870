// The hidden units of an MLP: from projections to what the down projection reads. Internal to the
// engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/weights.h"

namespace sinkd {

struct Units {
  at::Tensor gate;  // [rows, I]; undefined without gating
  at::Tensor up;    // [rows, I]
};

// Parts of a fused projection [rows, 2 I], or [rows, I] without gating.
Units SplitUnits(Gating gating, const at::Tensor& projected);

// The weights, or the bias, of either, [I, ...], of a fused projection's.
Units SplitRows(const at::Tensor& of_both);

// The activation of gate, or of up without gating. float32.
at::Tensor ActOf(const DecoderSpec& spec, const Units& units);

// What the down projection reads; `act` as ActOf returns it. float32.
at::Tensor ProductOf(const DecoderSpec& spec, const Units& units, const at::Tensor& act);

// The whole MLP for `in` [rows, C] float32, in float32 whatever the weights are, some units at a
// time so that wide weights are never held twice.
at::Tensor WideMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in);

}  // namespace sinkd
