#include "server/engine/gated_units.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/engine/linear.h"
#include "server/engine/piece_sizes.h"

namespace sinkd {
namespace {

// Constants of gpt-oss (transformers modeling_gpt_oss.py: alpha and limit).
constexpr double kSwishSlope = 1.702;
constexpr double kSwishLimit = 7.0;

at::Tensor Rows(const at::Tensor& tensor, int64_t first, int64_t rows) {
  return tensor.defined() ? tensor.narrow(0, first, rows).to(at::kFloat) : at::Tensor();
}

}  // namespace

Units SplitUnits(Gating gating, const at::Tensor& projected) {
  if (gating == Gating::kNone) return {.gate = {}, .up = projected};
  const int64_t units = projected.size(1) / 2;
  return {.gate = projected.narrow(1, 0, units), .up = projected.narrow(1, units, units)};
}

Units SplitRows(const at::Tensor& of_both) {
  const int64_t units = of_both.size(0) / 2;
  return {.gate = of_both.narrow(0, 0, units), .up = of_both.narrow(0, units, units)};
}

at::Tensor ActOf(const DecoderSpec& spec, const Units& units) {
  const at::Tensor x = (units.gate.defined() ? units.gate : units.up).to(at::kFloat);
  if (spec.gating == Gating::kClampedSwish) {
    const at::Tensor gate = x.clamp_max(kSwishLimit);
    return gate * at::sigmoid(gate * kSwishSlope);
  }
  switch (spec.activation) {
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
  }
  return x;
}

at::Tensor ProductOf(const DecoderSpec& spec, const Units& units, const at::Tensor& act) {
  switch (spec.gating) {
    case Gating::kNone:
      return act;
    case Gating::kGated:
      return act * units.up;
    case Gating::kClampedSwish:
      return act * (units.up.to(at::kFloat).clamp(-kSwishLimit, kSwishLimit) + 1);
  }
  return act;
}

at::Tensor WideMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in) {
  const int64_t units = mlp.down.size(1);
  const bool gated = spec.gating != Gating::kNone;
  at::Tensor sum = at::zeros({in.size(0), mlp.down.size(0)}, in.options());
  for (int64_t first = 0; first < units; first += kWideUnits) {
    const int64_t rows = std::min(kWideUnits, units - first);
    const int64_t up_row = gated ? units + first : first;
    const Units part{
        .gate =
            gated ? Linear(in, Rows(mlp.gate_up, first, rows), Rows(mlp.gate_up_bias, first, rows))
                  : at::Tensor(),
        .up = Linear(in, Rows(mlp.gate_up, up_row, rows), Rows(mlp.gate_up_bias, up_row, rows))};
    sum.add_(Linear(ProductOf(spec, part, ActOf(spec, part)),
                    mlp.down.narrow(1, first, rows).to(at::kFloat)));
  }
  return mlp.down_bias.defined() ? sum + mlp.down_bias.to(at::kFloat) : sum;
}

}  // namespace sinkd
