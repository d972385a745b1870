#include "server/engine/norm.h"

#include <ATen/ATen.h>

namespace sinkd {

at::Tensor Normalize(NormKind kind, const at::Tensor& x, const NormWeights& norm, double epsilon) {
  if (!norm.weight.defined()) return x;
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor weight = norm.weight.to(at::kFloat);
  if (kind == NormKind::kLayer) {
    return at::layer_norm(wide, {wide.size(-1)}, weight, norm.bias.to(at::kFloat), epsilon);
  }
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + epsilon);
  return (kind == NormKind::kRmsOnePlus ? 1 + weight : weight) * (wide * scale);
}

}  // namespace sinkd
