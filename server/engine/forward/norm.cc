#include "server/engine/forward/norm.h"

#include <tuple>

#include <ATen/ATen.h>

namespace sinkd {

namespace {

// Norms whose squares, and those of channels that count, are float32 to the last digit.
constexpr float kLeastSquared = 1e-12F;
constexpr float kMostSquared = 1e18F;

bool SquaresFit(const at::Tensor& norms) {
  if (norms.numel() == 0) return true;
  const auto [least, most] = at::aminmax(norms);
  return least.item<float>() >= kLeastSquared && most.item<float>() <= kMostSquared;
}

// Norms over the last axis, which stays: in float32 or, where that cannot hold their squares and on
// devices that would have to be waited for, in float64.
at::Tensor Norms(const at::Tensor& x) {
  if (x.is_cpu()) {
    at::Tensor norms = at::linalg_vector_norm(x, 2, at::IntArrayRef{-1}, /*keepdim=*/true);
    if (SquaresFit(norms)) return norms;
  }
  return at::linalg_vector_norm(x, 2, at::IntArrayRef{-1}, /*keepdim=*/true, at::kDouble);
}

// Weights of each head's own come after the norm itself.
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     double epsilon) {
  const bool alike = weight.dim() == 1;
  const auto in = [&](at::ScalarType type) {
    const auto typed = [type](const at::Tensor& t) { return t.defined() ? t.to(type) : t; };
    return at::native_layer_norm(x.to(type), {x.size(-1)}, alike ? typed(weight) : at::Tensor(),
                                 typed(bias), epsilon);
  };
  // The third is 1 / sqrt(variance + epsilon).
  const auto [normed, mean, scale] = in(at::kFloat);
  const bool fits = x.is_cpu() ? SquaresFit(scale.reciprocal())
                               : epsilon >= double{kLeastSquared} * double{kLeastSquared};
  const at::Tensor exact = fits ? normed : std::get<0>(in(at::kDouble)).to(at::kFloat);
  return weight.dim() < 2 ? exact : exact * weight;
}

}  // namespace

at::Tensor Normalize(NormKind kind, const at::Tensor& x, const NormWeights& weights,
                     double epsilon) {
  if (!weights.weight.defined()) return x;
  const at::Tensor wide = x.to(at::kFloat);
  const bool one_plus = kind == NormKind::kRmsOnePlus || kind == NormKind::kLayerOnePlus;
  at::Tensor weight = weights.weight.to(at::kFloat);
  if (one_plus) weight = 1 + weight;
  if (kind == NormKind::kLayer || kind == NormKind::kLayerOnePlus) {
    return LayerNorm(wide, weight, weights.bias, epsilon);
  }
  const at::Tensor scale = at::rsqrt(Norms(wide).square() / wide.size(-1) + epsilon);
  return (wide * scale.to(at::kFloat)).mul_(weight);
}

at::Tensor EuclideanNorms(const at::Tensor& rows) {
  return Norms(rows.to(at::kFloat)).squeeze(1).to(at::kFloat);
}

}  // namespace sinkd
