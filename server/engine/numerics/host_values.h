// The values of a tensor on any device, as a vector. Internal to the engine.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace sinkd {

// In row-major order; the tensor must be of type T.
template <typename T>
std::vector<T> HostValues(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  const T* values = host.const_data_ptr<T>();
  return std::vector<T>(values, values + host.numel());
}

}  // namespace sinkd
