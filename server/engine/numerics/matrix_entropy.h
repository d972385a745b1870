// Matrix entropy of rows on a device. Internal to the engine (torch in the signatures).
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// MatrixEntropy (decomposition.h) of `rows` [rows, columns], at least one, with finite values.
// NaN if all values are zero.
double EntropyOfRows(const at::Tensor& rows, double alpha);

}  // namespace sinkd
