#include "server/engine/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

// The dimension whose wave makes `rotations` turns over the original context (YaRN, section 3.2).
double CorrectionDimension(double rotations, const RopeSpec& rope, int64_t head_size) {
  return static_cast<double>(head_size) *
         std::log(rope.original_positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(rope.theta));
}

at::Tensor Llama3(const RopeSpec& rope, const at::Tensor& base) {
  const at::Tensor wavelength = (2 * std::numbers::pi) / base;
  const double longest = rope.original_positions / rope.low_frequency_factor;
  const double shortest = rope.original_positions / rope.high_frequency_factor;
  const at::Tensor smooth = (rope.original_positions / wavelength - rope.low_frequency_factor) /
                            (rope.high_frequency_factor - rope.low_frequency_factor);
  const at::Tensor between = (1 - smooth) * base / rope.factor + smooth * base;
  const at::Tensor scaled = at::where(wavelength > longest, base / rope.factor, base);
  return at::where((wavelength >= shortest).logical_and(wavelength <= longest), between, scaled);
}

at::Tensor Yarn(const RopeSpec& rope, int64_t head_size) {
  const at::Tensor exponents = at::arange(0, head_size, 2, at::kFloat) / head_size;
  const at::Tensor periods = at::pow(at::Scalar(rope.theta), exponents);
  double low = CorrectionDimension(rope.beta_fast, rope, head_size);
  double high = CorrectionDimension(rope.beta_slow, rope, head_size);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(head_size - 1));
  if (low == high) high += 0.001;
  const at::Tensor ramp =
      ((at::arange(head_size / 2, at::kFloat) - low) / (high - low)).clamp(0, 1);
  const at::Tensor keep = 1 - ramp;
  return 1.0 / (rope.factor * periods) * (1 - keep) + 1.0 / periods * keep;
}

}  // namespace

at::Tensor InverseFrequencies(const RopeSpec& rope, int64_t head_size) {
  const at::Tensor exponents = at::arange(0, head_size, 2, at::kFloat) / head_size;
  const at::Tensor base = 1.0 / at::pow(at::Scalar(rope.theta), exponents);
  switch (rope.kind) {
    case RopeKind::kDefault:
      return base;
    case RopeKind::kLinear:
      return base / rope.factor;
    case RopeKind::kLlama3:
      return Llama3(rope, base);
    case RopeKind::kYarn:
      return Yarn(rope, head_size);
  }
  return base;
}

RopeTables MakeRopeTables(const at::Tensor& inverse_frequencies, double attention_factor,
                          int64_t positions, const at::Device& device) {
  const at::Tensor angles =
      at::arange(positions, at::kFloat).unsqueeze(1) * inverse_frequencies.unsqueeze(0);
  return {.cos = (angles.cos() * attention_factor).to(device),
          .sin = (angles.sin() * attention_factor).to(device)};
}

at::Tensor Rotate(const at::Tensor& x, const RopeTables& tables) {
  const int64_t half = x.size(-1) / 2;
  const at::Tensor cos = tables.cos.narrow(0, 0, x.size(0)).unsqueeze(1);
  const at::Tensor sin = tables.sin.narrow(0, 0, x.size(0)).unsqueeze(1);
  const at::Tensor first = x.narrow(-1, 0, half);
  const at::Tensor second = x.narrow(-1, half, half);
  at::Tensor out = at::empty(x.sizes(), x.options());
  out.narrow(-1, 0, half).copy_(first * cos - second * sin);
  out.narrow(-1, half, half).copy_(second * cos + first * sin);
  return out;
}

}  // namespace sinkd
