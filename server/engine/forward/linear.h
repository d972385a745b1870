// Linear: matrix products in the way that is fastest on this processor. float32 products go to MKL
// or to oneDNN, which differ by more than two on some; bfloat16 products go to torch, or are made
// in float32 where the processor has no instructions for bfloat16; all else is torch's choice.
// Internal to the engine.
//
// Each choice is made once, by a measurement of some milliseconds when it is first needed, so that
// all results of a process agree. Thread-safety: all functions may be called from any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// x w^T + bias: x [rows, in], w [out, in], its rows or its columns contiguous, or as SplitInputs
// gives it; bias [out] or undefined. Throws std::bad_alloc when the host has but its reserve left.
at::Tensor Linear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias = {});

// Whether the products below can be made, of bfloat16 on the CPU: where oneDNN is there and the
// processor has instructions for it.
bool FusesActivations();

// activation(x w^T + bias), and (x w^T + bias) * factor [rows, out], as Linear but rounded to
// bfloat16 once, at the end.
at::Tensor ActivatedLinear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                           Activation activation);
at::Tensor MultipliedLinear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                            const at::Tensor& factor);

// Room for weights [out, in] as Linear wants them: where oneDNN is used, cut into
// [parts, out, in / parts], whose products are added up. oneDNN sums over all inputs in one run,
// with several times the rounding error of MKL, which sums in pieces; in parts of 256 it is as
// exact.
at::Tensor EmptyWeights(int64_t out, int64_t in, const at::TensorOptions& options);

// A view of such weights by row: [out, in], or [out, parts, in / parts].
at::Tensor RowsOf(const at::Tensor& weights);

// `w` [out, in] in that form.
at::Tensor SplitInputs(const at::Tensor& w);

// Whether float32 products on the CPU go to oneDNN.
bool UsesOneDnn();

// Whether bfloat16 products on the CPU are made in bfloat16.
bool UsesBfloat16();

}  // namespace sinkd
