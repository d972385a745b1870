// Linear: matrix products on the CPU by the library that suits the processor; torch's choice on
// other devices. Internal to the engine.
//
// The choice follows from what the processor is, and from --float32-products, never from a
// measurement, so that every start, replica and shard on such processors computes the same digits:
//   float32   MKL on Intel's processors, oneDNN on all others. MKL picks its code by the vendor,
//             and takes more than twice oneDNN's time on AMD's; on Intel's it is as fast on large
//             matrices, faster on small ones, and has a mode in which a row's sums depend neither
//             on the rows beside it nor on the number of threads (MKL_CBWR=...,STRICT).
//   bfloat16  oneDNN where the processor has AVX512_BF16; elsewhere in float32, since without these
//             instructions each factor is widened within the product, at several times the cost.
//
// Thread-safety: all functions may be called from any thread, ChooseFloat32Products (model.h) only
// before all others.
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/model.h"

namespace sinkd {

// x w^T + bias: x [rows, in], w [out, in], its rows or its columns contiguous, or as SplitInputs
// gives it; bias [out] or undefined. Throws std::bad_alloc when the host has but its reserve left.
at::Tensor Linear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias = {});

// Whether the products below can be made, of bfloat16 on the CPU: where oneDNN is there and the
// processor has instructions for it.
bool FusesActivations();

// activation(x w^T + bias), and (x w^T + bias) * factor [rows, out], as Linear but rounded to
// bfloat16 once, at the end. Not of the squared ReLU and of xIELU.
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

// Whether sums of products are the same for every number of threads: MKL's are in its mode above.
bool IgnoresThreads();

}  // namespace sinkd
