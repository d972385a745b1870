#include "server/engine/norm.h"

#include <ATen/ATen.h>

namespace sinkd {

at::Tensor WideRmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon);
  return weight.to(at::kFloat) * (wide * scale);
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  return WideRmsNorm(x, weight, epsilon).to(weight.scalar_type());
}

}  // namespace sinkd
