#include "server/engine/forward/round_activations.h"

#include <limits>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

constexpr float kInt8Range = 127.5;
constexpr float kFp8Range = 448;

at::Tensor Rounded(ActivationRounding rounding, const at::Tensor& scaled) {
  if (rounding == ActivationRounding::kInt8) return scaled.round().clamp_(-128, 127);
  return scaled.clamp(-kFp8Range, kFp8Range).to(at::kFloat8_e4m3fn).to(at::kFloat);
}

}  // namespace

at::Tensor RoundActivations(const ActivationScheme& scheme, const at::Tensor& rows) {
  if (scheme.rounding == ActivationRounding::kNone || rows.size(0) == 0) return rows;
  const int64_t width = rows.size(1);
  const int64_t group = scheme.group == 0 ? width : scheme.group;
  const int64_t missing = (group - width % group) % group;
  const at::Tensor wide = at::constant_pad_nd(rows.to(at::kFloat), {0, missing});
  const at::Tensor groups = wide.unflatten(1, {-1, group});
  const float range = scheme.rounding == ActivationRounding::kInt8 ? kInt8Range : kFp8Range;
  at::Tensor scale = groups.abs().amax(2, /*keepdim=*/true).div_(range);
  scale.masked_fill_(scale == 0, std::numeric_limits<float>::epsilon());
  const at::Tensor rounded = Rounded(scheme.rounding, groups / scale).mul_(scale);
  return rounded.flatten(1).narrow(1, 0, width).to(rows.scalar_type());
}

}  // namespace sinkd
