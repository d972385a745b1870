#include "server/engine/matrix_tensor.h"

#include <ATen/ATen.h>

namespace sinkd {

at::Tensor ToTensor(const Matrix& matrix, const at::Device& device, at::ScalarType type) {
  const at::Tensor host = at::empty({matrix.rows, matrix.columns}, at::kFloat);
  std::copy(matrix.values.begin(), matrix.values.end(), host.mutable_data_ptr<float>());
  return host.to(device).to(type);
}

Matrix ToMatrix(const at::Tensor& rows) {
  const at::Tensor host = rows.to(at::kCPU, at::kFloat).contiguous();
  const float* values = host.const_data_ptr<float>();
  return {.rows = host.size(0),
          .columns = host.size(1),
          .values = std::vector<float>(values, values + host.numel())};
}

}  // namespace sinkd
