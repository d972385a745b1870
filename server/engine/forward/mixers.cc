#include "server/engine/forward/mixers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/gated_units.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/linear_attention.h"
#include "server/engine/forward/norm.h"
#include "server/engine/forward/round_activations.h"

namespace sinkd {
namespace {

at::Tensor Project(const MixerWeights& weights, at::Tensor in) {
  in = RoundActivations(weights.input, in).to(weights.in.scalar_type());
  return Linear(in, weights.in, weights.in_bias).to(at::kFloat);
}

at::Tensor Output(const MixerWeights& weights, const at::Tensor& mixed) {
  const at::Tensor read = RoundActivations(weights.mixed, mixed.to(weights.output.scalar_type()));
  return Linear(read, weights.output, weights.output_bias).to(at::kFloat);
}

// ln(1 + exp(x)), without torch's own code for the last few values (gated_units.cc).
at::Tensor SoftPlus(const at::Tensor& x) {
  return x.abs().neg_().exp_().log1p_().add_(x.clamp_min(0));
}

// Under the root of a squared norm (transformers, qwen3_next).
constexpr double kNormEpsilon = 1e-6;

// Of norm 1 over the last axis.
at::Tensor Normed(const at::Tensor& x) {
  return x * (x * x).sum(-1, /*keepdim=*/true).add_(kNormEpsilon).rsqrt_();
}

// Of parts [rows, n] of these widths, each times its number.
at::Tensor ScaleParts(const at::Tensor& rows, const std::array<int64_t, 5>& widths,
                      const std::array<double, 5>& scales) {
  if (std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 1; })) {
    return rows;
  }
  std::vector<at::Tensor> factors;
  for (size_t i = 0; i < widths.size(); ++i) {
    factors.push_back(at::full({widths[i]}, scales[i], rows.options()));
  }
  return rows * at::cat(factors);
}

// LinearAttention of all samples of a group; parts of `input` are [rows, heads, size] or
// [rows, heads]. Returns [rows, value heads, value size].
at::Tensor OfSamples(const LinearInput& input, const RowGroup& group) {
  at::Tensor out = at::empty(input.v.sizes(), input.v.options());
  for (const EqualSamples& equals : GroupByLength(group.offsets)) {
    const int64_t rows = equals.samples * equals.length;
    const auto some = [&](const at::Tensor& all) {
      if (!all.defined()) return all;
      return all.narrow(0, equals.first_row, rows).unflatten(0, {equals.samples, equals.length});
    };
    const at::Tensor mixed = LinearAttention({.q = some(input.q),
                                              .k = some(input.k),
                                              .v = some(input.v),
                                              .decay = some(input.decay),
                                              .beta = some(input.beta)});
    out.narrow(0, equals.first_row, rows).copy_(mixed.flatten(0, 1));
  }
  return out;
}

}  // namespace

at::Tensor Convolve(const at::Tensor& x, const at::Tensor& taps, const at::Tensor& bias,
                    const RowGroup& group) {
  const int64_t last = taps.size(0) - 1;
  const at::Tensor wide = taps.to(at::kFloat);
  at::Tensor sum = x * wide[last];
  if (bias.defined()) sum.add_(bias);
  for (int64_t s = 0; s < group.samples(); ++s) {
    for (int64_t back = 1; back <= last && back < group.length(s); ++back) {
      const int64_t rows = group.length(s) - back;
      sum.narrow(0, group.begin(s) + back, rows)
          .add_(x.narrow(0, group.begin(s), rows) * wide[last - back]);
    }
  }
  return sum;
}

at::Tensor ShortConvolution(const DecoderSpec& /*spec*/, const MixerWeights& weights, at::Tensor in,
                            const RowGroup& group) {
  const std::vector<at::Tensor> bcx = Project(weights, std::move(in)).chunk(3, 1);
  const at::Tensor convolved = Convolve(bcx[0] * bcx[2], weights.taps, weights.taps_bias, group);
  return Output(weights, convolved * bcx[1]);
}

at::Tensor GatedDelta(const DecoderSpec& spec, const MixerWeights& weights, at::Tensor in,
                      const RowGroup& group) {
  const DeltaSpec& delta = spec.delta;
  const int64_t keys = delta.key_heads * delta.key_size;
  const int64_t values = delta.value_heads * delta.value_size;
  const std::vector<at::Tensor> parts =
      Project(weights, std::move(in))
          .split_with_sizes({2 * keys + values, values, delta.value_heads, delta.value_heads}, 1);
  const at::Tensor& z = parts[1];
  const std::vector<at::Tensor> qkv =
      Activate(spec.activation, Convolve(parts[0], weights.taps, weights.taps_bias, group))
          .split_with_sizes({keys, keys, values}, 1);
  const auto by_head = [](const at::Tensor& rows, int64_t heads) {
    return rows.unflatten(1, {heads, -1});
  };
  const at::Tensor mixed = OfSamples(
      {.q = Normed(by_head(qkv[0], delta.key_heads))
                .div_(std::sqrt(static_cast<double>(delta.key_size))),
       .k = Normed(by_head(qkv[1], delta.key_heads)),
       .v = by_head(qkv[2], delta.value_heads),
       .decay = SoftPlus(parts[3] + weights.step).mul_(weights.decay.to(at::kFloat).exp()).neg_(),
       .beta = Sigmoid(parts[2])},
      group);
  // The gate of this norm is silu, whatever activation the convolution has.
  const at::Tensor normed = Normalize(NormKind::kRms, mixed, weights.norm, spec.norm_epsilon);
  return Output(weights, normed.flatten(1) * Activate(Activation::kSilu, z));
}

at::Tensor Mamba2(const DecoderSpec& spec, const MixerWeights& weights, at::Tensor in,
                  const RowGroup& group) {
  const MambaSpec& mamba = spec.mamba;
  const int64_t width = mamba.heads * mamba.head_size;
  const int64_t states = mamba.groups * mamba.state_size;
  if (mamba.input_scale != 1) in = in * mamba.input_scale;
  const std::vector<at::Tensor> parts =
      ScaleParts(Project(weights, std::move(in)), {width, width, states, states, mamba.heads},
                 mamba.part_scales)
          .split_with_sizes({width, width + 2 * states, mamba.heads}, 1);
  const at::Tensor& z = parts[0];
  const std::vector<at::Tensor> xbc =
      Activate(mamba.activation, Convolve(parts[1], weights.taps, weights.taps_bias, group))
          .split_with_sizes({width, states, states}, 1);
  const at::Tensor x = xbc[0].unflatten(1, {mamba.heads, mamba.head_size});
  const at::Tensor step =
      SoftPlus(parts[2] + weights.step).clamp_(mamba.least_step, mamba.most_step);
  const auto by_group = [&](const at::Tensor& rows) {
    return rows.unflatten(1, {mamba.groups, -1});
  };
  at::Tensor mixed = OfSamples({.q = by_group(xbc[2]),
                                .k = by_group(xbc[1]),
                                .v = x * step.unsqueeze(2),
                                .decay = step * weights.decay.to(at::kFloat).exp().neg_(),
                                .beta = {}},
                               group);
  mixed = mixed.add_(x * weights.skip.unsqueeze(1)).flatten(1);
  const at::Tensor gate = Activate(Activation::kSilu, z);
  if (!mamba.norm_before_gate) mixed.mul_(gate);
  if (mamba.norm) {
    mixed = Normalize(NormKind::kRms, by_group(mixed), weights.norm, spec.norm_epsilon).flatten(1);
  }
  if (mamba.norm_before_gate) mixed.mul_(gate);
  const at::Tensor out = Output(weights, mixed);
  return mamba.output_scale == 1 ? out : out * mamba.output_scale;
}

}  // namespace sinkd
