// Matrix entropy of rows on a device. Internal to the engine (torch in the signatures).
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// As MatrixEntropy of decomposition.h, of `rows` [rows, columns], at least one, of finite values.
// NaN when all is zero.
double EntropyOfRows(const at::Tensor& rows, double alpha);

}  // namespace sinkd
