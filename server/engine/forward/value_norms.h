// Norms of what values add to the residual stream. Internal to the engine.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

// ||W v|| of every row's value, for each of `heads` query heads: `v` [rows, K, E] float32, W the
// head's columns of `output` [C, heads E], which may be as SplitInputs gives it. Returns
// [rows, heads] float32; a row's norms do not depend on the other rows.
//
// ||W v||^2 = v^T (W^T W) v: E numbers a row and head, not C. The square is off by float32's
// rounding of ||W||^2 ||v||^2.
at::Tensor ValueNorms(const at::Tensor& v, const at::Tensor& output, int64_t heads);

}  // namespace sinkd
