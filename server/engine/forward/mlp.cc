#include "server/engine/forward/mlp.h"

#include <cmath>

#include <ATen/ATen.h>

#include "server/engine/forward/experts.h"
#include "server/engine/forward/gated_units.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/norm.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/round_activations.h"

namespace sinkd {
namespace {

// A row is massive when the square of one channel is a quarter of the row's, and of the stream's
// (Sun et al., arXiv 2402.17762).
constexpr double kMassiveShare = 0.5;

// Massive rows are computed in multiples of so many.
constexpr int64_t kMassiveStep = 64;

// What the down projection reads, [rows, I], without anything in between that somebody asks for.
at::Tensor FusedProduct(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in) {
  const Units w = SplitUnits(spec.gating, mlp.gate_up, 0);
  const Units bias = SplitUnits(spec.gating, mlp.gate_up_bias, 0);
  if (!w.gate.defined()) return ActivatedLinear(in, w.up, bias.up, spec.activation);
  return MultipliedLinear(in, w.up, bias.up,
                          ActivatedLinear(in, w.gate, bias.gate, spec.activation));
}

at::Tensor ProductInSteps(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in,
                          const BlockTap& tap, int64_t first_row) {
  const at::Tensor both = Linear(in, mlp.gate_up, mlp.gate_up_bias);
  const Units units = SplitUnits(spec.gating, both, 1);
  if (units.gate.defined()) tap(Site::kGate, units.gate, first_row);
  tap(Site::kUp, units.up, first_row);
  const at::Tensor act = ActOf(spec, units, mlp.act_numbers);
  tap(Site::kAct, act, first_row);
  return ProductOf(spec, units, act).to(in.scalar_type());
}

at::Tensor DenseMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& given,
                    const BlockTap& tap, int64_t first_row) {
  const at::Tensor in = RoundActivations(mlp.input, given);
  const bool fused = FusesUnits(spec, in.is_cpu(), in.scalar_type() == at::kBFloat16) &&
                     !tap.Wants(Site::kGate) && !tap.Wants(Site::kUp) && !tap.Wants(Site::kAct);
  const at::Tensor product =
      fused ? FusedProduct(spec, mlp, in) : ProductInSteps(spec, mlp, in, tap, first_row);
  tap(Site::kProduct, product, first_row);
  return Linear(RoundActivations(mlp.product, product), mlp.down, mlp.down_bias).to(at::kFloat);
}

// What experts beside an MLP add, from the stream.
at::Tensor ExpertsBeside(const DecoderSpec& spec, const BlockWeights& weights,
                         const at::Tensor& stream, at::ScalarType type) {
  const NormWeights plain{.weight = at::ones({}, stream.options()), .bias = {}};
  const at::Tensor routed = Normalize(spec.norm, stream, plain, spec.norm_epsilon) *
                            weights.router_scale.to(at::kFloat) /
                            std::sqrt(static_cast<double>(spec.hidden));
  const at::Tensor in = Normalize(spec.norm, stream, weights.expert_norm, spec.norm_epsilon);
  return Normalize(spec.norm, RunExperts(spec, weights, routed, in, type),
                   weights.expert_output_norm, spec.norm_epsilon);
}

// With both, the norms after them say how large rows are, and none is massive.
at::Tensor BothMlps(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                    const at::Tensor& stream, const BlockTap& tap, int64_t first_row) {
  const at::ScalarType type = weights.mlp.down.scalar_type();
  const at::Tensor dense = DenseMlp(spec, weights.mlp, in.to(type), tap, first_row);
  return Normalize(spec.norm, dense, weights.dense_norm, spec.norm_epsilon) +
         ExpertsBeside(spec, weights, stream, type);
}

at::Tensor PlainMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                    const at::Tensor& stream, const BlockTap& tap, int64_t first_row) {
  const bool sparse = !weights.experts.empty();
  const at::ScalarType type =
      sparse ? weights.experts.front().down.scalar_type() : weights.mlp.down.scalar_type();
  const at::Tensor out = sparse ? RunExperts(spec, weights, in, in, type)
                                : DenseMlp(spec, weights.mlp, in.to(type), tap, first_row);
  if (type == at::kFloat) return out;
  // A massive activation comes from one or two units, so that bfloat16's rounding of each shows
  // whole in its norm: such rows are computed again in float32.
  const at::Tensor largest = at::maximum(out.amax(1), -out.amin(1));
  at::Tensor massive = largest > kMassiveShare * EuclideanNorms(out);
  if (stream.defined()) massive.logical_and_(largest > kMassiveShare * EuclideanNorms(stream));
  const at::Tensor rows = massive.nonzero().squeeze(1);
  if (rows.size(0) == 0) return out;
  const at::Tensor again = in.index_select(0, rows);
  if (sparse) return out.index_copy(0, rows, RunExperts(spec, weights, again, again, at::kFloat));
  // Any number of rows may be massive, and oneDNN makes and keeps a kernel for each it sees.
  const int64_t more = (kMassiveStep - rows.size(0) % kMassiveStep) % kMassiveStep;
  const at::Tensor wide = WideMlp(spec, weights.mlp, at::constant_pad_nd(again, {0, 0, 0, more}));
  return out.index_copy(0, rows, wide.narrow(0, 0, rows.size(0)));
}

}  // namespace

bool FusesUnits(const DecoderSpec& spec, bool on_cpu, bool narrow) {
  return on_cpu && narrow && spec.gating != Gating::kClampedSwish &&
         spec.activation != Activation::kReluSquared && spec.activation != Activation::kXielu &&
         spec.gate_scale == 1 && spec.experts.count == 0 && FusesActivations();
}

int64_t MlpRows(const DecoderSpec& spec, bool on_cpu, bool narrow) {
  return FusesUnits(spec, on_cpu, narrow) ? kFusedMlpRows : kMlpRows;
}

at::Tensor RunMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                  const at::Tensor& stream, const BlockTap& tap, int64_t first_row) {
  const bool normed = weights.mlp_output_norm.weight.defined();
  const at::Tensor out =
      weights.dense_norm.weight.defined()
          ? BothMlps(spec, weights, in, stream, tap, first_row)
          : PlainMlp(spec, weights, in, normed ? at::Tensor() : stream, tap, first_row);
  const at::Tensor added = Normalize(spec.norm, out, weights.mlp_output_norm, spec.norm_epsilon);
  const double scale = spec.residual_scale * spec.mlp_output_scale;
  return scale == 1 ? added : added * scale;
}

}  // namespace sinkd
