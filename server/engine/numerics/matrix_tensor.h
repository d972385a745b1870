// Matrices as tensors. Internal to the engine (torch in the signatures).
#pragma once

#include <ATen/core/Tensor.h>

#include "server/engine/matrix.h"

namespace sinkd {

// A copy of `matrix` on `device`, [rows, columns] of `type`.
at::Tensor ToTensor(const Matrix& matrix, const at::Device& device, at::ScalarType type);

// A copy of `rows` [rows, columns], in float32.
Matrix ToMatrix(const at::Tensor& rows);

}  // namespace sinkd
