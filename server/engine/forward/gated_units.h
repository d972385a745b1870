// The hidden units of an MLP: from projections to what the down projection reads. Internal to the
// engine.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// [rows, I], or the weights [I, C] or bias [I] they come from.
struct Units {
  at::Tensor gate;  // undefined without gating
  at::Tensor up;
};

// Parts of what lies fused along `axis`, 2 I long, or I without gating: a projection [rows, 2 I] at
// 1; its weights [2 I, C] or bias [2 I], which may be undefined, at 0.
Units SplitUnits(Gating gating, const at::Tensor& fused, int64_t axis);

// 1 / (1 + exp(-x)) of float32. Here as below, a value depends on none beside it.
at::Tensor Sigmoid(const at::Tensor& x);

// The activation, [rows, width] float32; `numbers` as below.
at::Tensor Activate(Activation activation, const at::Tensor& x, const at::Tensor& numbers = {});

// The activation of gate, or of up without gating. float32. `numbers` are those of kXielu, [4]:
// what scales positive and negative units, before softplus; the slope at 0; the last negative value
// whose exponential counts.
at::Tensor ActOf(const DecoderSpec& spec, const Units& units, const at::Tensor& numbers = {});

// What the down projection reads; `act` as ActOf returns it. float32.
at::Tensor ProductOf(const DecoderSpec& spec, const Units& units, const at::Tensor& act);

// The whole MLP for `in` [rows, C] float32, in float32 whatever the weights are, some units at a
// time so that wide weights are never held twice.
at::Tensor WideMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in);

}  // namespace sinkd
