#include "server/engine/forward/norm.h"

#include <ATen/ATen.h>

namespace sinkd {

at::Tensor Normalize(NormKind kind, const at::Tensor& x, const NormWeights& weights,
                     double epsilon) {
  if (!weights.weight.defined()) return x;
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor weight = weights.weight.to(at::kFloat);
  if (kind == NormKind::kLayer) {
    return at::layer_norm(wide, {wide.size(-1)}, weight, weights.bias.to(at::kFloat), epsilon);
  }
  const at::Tensor norm = at::linalg_vector_norm(wide, 2, at::IntArrayRef{-1}, /*keepdim=*/true);
  const at::Tensor scale = at::rsqrt(norm.square() / wide.size(-1) + epsilon);
  return (wide * scale).mul_(kind == NormKind::kRmsOnePlus ? 1 + weight : weight);
}

at::Tensor EuclideanNorms(const at::Tensor& rows) {
  return at::linalg_vector_norm(rows.to(at::kFloat), 2, at::IntArrayRef{1});
}

}  // namespace sinkd
