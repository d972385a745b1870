// Principal axes of rows on a device. Internal to the engine (torch in the signatures).
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

struct PrincipalAxes {
  at::Tensor directions;       // [k, C] orthonormal, strongest first
  at::Tensor singular_values;  // [k]
};

// The `count` strongest axes, or as many as there are, of `centred` [rows, C] float64, whose
// columns have mean zero.
PrincipalAxes FindAxes(const at::Tensor& centred, int64_t count);

}  // namespace sinkd
