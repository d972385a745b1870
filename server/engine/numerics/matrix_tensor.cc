#include "server/engine/numerics/matrix_tensor.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/engine/numerics/host_values.h"

namespace sinkd {

at::Tensor ToTensor(const Matrix& matrix, const at::Device& device, at::ScalarType type) {
  const at::Tensor host = at::empty({matrix.rows, matrix.columns}, at::kFloat);
  std::copy(matrix.values.begin(), matrix.values.end(), host.mutable_data_ptr<float>());
  return host.to(device).to(type);
}

Matrix ToMatrix(const at::Tensor& rows) {
  return {.rows = rows.size(0),
          .columns = rows.size(1),
          .values = HostValues<float>(rows.to(at::kFloat))};
}

}  // namespace sinkd
