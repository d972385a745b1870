#include "server/engine/mlp.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "server/engine/norm.h"

namespace sinkd {
namespace {

// Rows of the MLP computed at once, so that gate and up do not dominate memory on long samples.
constexpr int64_t kMlpRows = 2048;

at::Tensor Activate(Activation activation, const at::Tensor& gate) {
  switch (activation) {
    case Activation::kSilu:
      return at::silu(gate.to(at::kFloat));
  }
  return gate;
}

// The units of the MLP computed at once in float32, so that wide weights are never held twice.
constexpr int64_t kWideUnits = 2048;
// A row is massive when one channel holds this share of its energy (Sun et al., arXiv 2402.17762).
constexpr double kMassiveShare = 0.25;

// What the MLP adds for `in` [rows, C], in float32 whatever the weights are.
at::Tensor WideMlp(const DecoderSpec& spec, const BlockWeights& w, const at::Tensor& in) {
  const auto wide_rows = [](const at::Tensor& weight, int64_t first, int64_t rows) {
    return weight.narrow(0, first, rows).to(at::kFloat);
  };
  const auto wide_bias = [](const at::Tensor& bias, int64_t first, int64_t rows) {
    return bias.defined() ? bias.narrow(0, first, rows).to(at::kFloat) : at::Tensor();
  };
  const int64_t units = spec.intermediate;
  at::Tensor sum = at::zeros({in.size(0), spec.hidden}, in.options());
  for (int64_t first = 0; first < units; first += kWideUnits) {
    const int64_t rows = std::min(kWideUnits, units - first);
    const at::Tensor gate =
        at::linear(in, wide_rows(w.gate_up, first, rows), wide_bias(w.gate_up_bias, first, rows));
    const at::Tensor up = at::linear(in, wide_rows(w.gate_up, units + first, rows),
                                     wide_bias(w.gate_up_bias, units + first, rows));
    sum.add_(at::linear(Activate(spec.activation, gate) * up,
                        w.down.narrow(1, first, rows).to(at::kFloat)));
  }
  return w.down_bias.defined() ? sum + w.down_bias.to(at::kFloat) : sum;
}

// A massive activation comes from one or two units, so that bfloat16's rounding of each shows whole
// in the norm: such rows of `out` are computed again in float32. `normed` is the norm's output
// before rounding. Returns float32.
at::Tensor RefineMassiveRows(const DecoderSpec& spec, const BlockWeights& w,
                             const at::Tensor& normed, const at::Tensor& out) {
  at::Tensor wide = out.to(at::kFloat);
  const at::Tensor energy = wide.square();
  const at::Tensor massive = energy.amax(-1) > kMassiveShare * energy.sum(-1);
  const at::Tensor rows = massive.nonzero().squeeze(1);
  if (rows.size(0) == 0) return wide;
  wide.index_copy_(0, rows, WideMlp(spec, w, normed.index_select(0, rows)));
  return wide;
}

}  // namespace

at::Tensor AddMlp(const DecoderSpec& spec, const BlockWeights& w, const at::Tensor& x,
                  const BlockTap& tap) {
  at::Tensor sum = at::empty_like(x);
  for (int64_t first = 0; first < x.size(0); first += kMlpRows) {
    const at::Tensor rows = x.narrow(0, first, std::min(kMlpRows, x.size(0) - first));
    const at::Tensor normed = WideRmsNorm(rows, w.mlp_norm, spec.norm_epsilon);
    const at::Tensor in = normed.to(w.gate_up.scalar_type());
    tap(Site::kMlpIn, in, first);
    const at::Tensor both = at::linear(in, w.gate_up, w.gate_up_bias);
    const at::Tensor gate = both.narrow(1, 0, spec.intermediate);
    const at::Tensor up = both.narrow(1, spec.intermediate, spec.intermediate);
    tap(Site::kGate, gate, first);
    tap(Site::kUp, up, first);
    const at::Tensor act = Activate(spec.activation, gate);
    tap(Site::kAct, act, first);
    const at::Tensor product = (act * up).to(up.scalar_type());
    tap(Site::kProduct, product, first);
    at::Tensor out = at::linear(product, w.down, w.down_bias);
    if (out.scalar_type() != at::kFloat) out = RefineMassiveRows(spec, w, normed, out);
    tap(Site::kMlpOut, out, first);
    at::Tensor target = sum.narrow(0, first, rows.size(0));
    at::add_out(target, rows, out);
  }
  return sum;
}

}  // namespace sinkd
