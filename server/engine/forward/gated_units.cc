#include "server/engine/forward/gated_units.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/linear.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/round_activations.h"

namespace sinkd {
namespace {

at::Tensor Rows(const at::Tensor& tensor, int64_t first, int64_t rows) {
  return tensor.defined() ? tensor.narrow(0, first, rows).to(at::kFloat) : at::Tensor();
}

// Of torch's own activations the last few values of a thread's share are computed by other code,
// which rounds otherwise: they would depend on the rows beside them and on the number of threads.
// exp, tanh and erf have no such rest.

// x / (1 + exp(-slope x)).
at::Tensor Swish(const at::Tensor& x, double slope) {
  if (!x.is_cpu() && slope == 1) return at::silu(x);
  at::Tensor all = (x * -slope).exp_().add_(1);
  return at::div_out(all, x, all);
}

// x (1 + inner) / 2; writes to `inner`.
at::Tensor HalfOfOnePlus(at::Tensor inner, const at::Tensor& x) {
  return inner.add_(1).mul_(x).mul_(0.5);
}

at::Tensor Gelu(const at::Tensor& x) {
  if (!x.is_cpu()) return at::gelu(x);
  return HalfOfOnePlus((x * (std::numbers::sqrt2 / 2)).erf_(), x);
}

at::Tensor GeluTanh(const at::Tensor& x) {
  if (!x.is_cpu()) return at::gelu(x, "tanh");
  constexpr double kCubic = 0.044715;
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return HalfOfOnePlus((x * x).mul_(kCubic * kScale).add_(kScale).mul_(x).tanh_(), x);
}

// xIELU (arXiv 2411.13010, section 3): a square where x > 0, an exponential below.
at::Tensor Xielu(const at::Tensor& x, const at::Tensor& numbers) {
  const at::Tensor wide = numbers.to(at::kFloat);
  const at::Tensor slope = wide[2];
  const at::Tensor above = at::softplus(wide[0]) * x * x + slope * x;
  const at::Tensor below =
      (at::expm1(at::minimum(x, wide[3])) - x) * (slope + at::softplus(wide[1])) + slope * x;
  return at::where(x > 0, above, below);
}

}  // namespace

at::Tensor Sigmoid(const at::Tensor& x) {
  return x.neg().exp_().add_(1).reciprocal_();
}

Units SplitUnits(Gating gating, const at::Tensor& fused, int64_t axis) {
  if (gating == Gating::kNone || !fused.defined()) return {.gate = {}, .up = fused};
  const int64_t units = fused.size(axis) / 2;
  return {.gate = fused.narrow(axis, 0, units), .up = fused.narrow(axis, units, units)};
}

at::Tensor ActOf(const DecoderSpec& spec, const Units& units, const at::Tensor& numbers) {
  at::Tensor x = (units.gate.defined() ? units.gate : units.up).to(at::kFloat);
  if (spec.gate_scale != 1) x = x * spec.gate_scale;
  if (spec.gating == Gating::kClampedSwish) {
    const at::Tensor gate = x.clamp_max(spec.swish_limit);
    return Swish(gate, spec.swish_slope);
  }
  return Activate(spec.activation, x, numbers);
}

at::Tensor Activate(Activation activation, const at::Tensor& x, const at::Tensor& numbers) {
  switch (activation) {
    case Activation::kSilu:
      return Swish(x, 1);
    case Activation::kGelu:
      return Gelu(x);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kReluSquared:
      return at::relu(x).square_();
    case Activation::kXielu:
      return Xielu(x, numbers);
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
      return act * (units.up.to(at::kFloat).clamp(-spec.swish_limit, spec.swish_limit) + 1);
  }
  return act;
}

at::Tensor WideMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in) {
  const int64_t units = mlp.down.size(1);
  const Units w = SplitUnits(spec.gating, mlp.gate_up, 0);
  const Units bias = SplitUnits(spec.gating, mlp.gate_up_bias, 0);
  const at::Tensor input = RoundActivations(mlp.input, in);
  const auto product = [&](int64_t first, int64_t rows) {
    const auto project = [&](const at::Tensor& weights, const at::Tensor& added) {
      return Linear(input, Rows(weights, first, rows), Rows(added, first, rows));
    };
    const Units part{.gate = w.gate.defined() ? project(w.gate, bias.gate) : at::Tensor(),
                     .up = project(w.up, bias.up)};
    return ProductOf(spec, part, ActOf(spec, part, mlp.act_numbers));
  };
  at::Tensor sum = at::zeros({in.size(0), mlp.down.size(0)}, in.options());
  const auto add_down = [&](const at::Tensor& part, int64_t first) {
    sum.add_(Linear(part, mlp.down.narrow(1, first, part.size(1)).to(at::kFloat)));
  };
  std::vector<at::Tensor> products;  // whole rows, where they share a scale
  for (int64_t first = 0; first < units; first += kWideUnits) {
    const at::Tensor part = product(first, std::min(kWideUnits, units - first));
    if (mlp.product.rounding == ActivationRounding::kNone) {
      add_down(part, first);
    } else {
      products.push_back(part);
    }
  }
  if (!products.empty()) {
    const at::Tensor whole = RoundActivations(mlp.product, at::cat(products, 1));
    int64_t first = 0;
    for (const at::Tensor& part : whole.split(kWideUnits, 1)) {
      add_down(part, first);
      first += part.size(1);
    }
  }
  return mlp.down_bias.defined() ? sum + mlp.down_bias.to(at::kFloat) : sum;
}

}  // namespace sinkd
