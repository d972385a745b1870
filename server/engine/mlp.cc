#include "server/engine/mlp.h"

#include <ATen/ATen.h>

#include "server/engine/experts.h"
#include "server/engine/gated_units.h"
#include "server/engine/linear.h"
#include "server/engine/norm.h"

namespace sinkd {
namespace {

// A row is massive when one channel holds this share of its energy and as much beside the stream's
// (Sun et al., arXiv 2402.17762).
constexpr double kMassiveShare = 0.25;

// Massive rows are computed in multiples of so many.
constexpr int64_t kMassiveStep = 64;

at::Tensor DenseMlp(const DecoderSpec& spec, const MlpWeights& mlp, const at::Tensor& in,
                    const BlockTap& tap, int64_t first_row) {
  const at::Tensor both = Linear(in, mlp.gate_up, mlp.gate_up_bias);
  const Units units = SplitUnits(spec.gating, both);
  if (units.gate.defined()) tap(Site::kGate, units.gate, first_row);
  tap(Site::kUp, units.up, first_row);
  const at::Tensor act = ActOf(spec, units);
  tap(Site::kAct, act, first_row);
  const at::Tensor product = ProductOf(spec, units, act).to(in.scalar_type());
  tap(Site::kProduct, product, first_row);
  return Linear(product, mlp.down, mlp.down_bias).to(at::kFloat);
}

at::Tensor PlainMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                    const at::Tensor& stream, const BlockTap& tap, int64_t first_row) {
  const bool sparse = !weights.experts.empty();
  const at::ScalarType type =
      sparse ? weights.experts.front().down.scalar_type() : weights.mlp.down.scalar_type();
  const at::Tensor out = sparse ? RunExperts(spec, weights, in, type)
                                : DenseMlp(spec, weights.mlp, in.to(type), tap, first_row);
  if (type == at::kFloat) return out;
  // A massive activation comes from one or two units, so that bfloat16's rounding of each shows
  // whole in its norm: such rows are computed again in float32.
  const at::Tensor energy = out.square();
  const at::Tensor largest = energy.amax(-1);
  at::Tensor massive = largest > kMassiveShare * energy.sum(-1);
  if (stream.defined()) massive.logical_and_(largest > kMassiveShare * stream.square().sum(-1));
  const at::Tensor rows = massive.nonzero().squeeze(1);
  if (rows.size(0) == 0) return out;
  const at::Tensor again = in.index_select(0, rows);
  if (sparse) return out.index_copy(0, rows, RunExperts(spec, weights, again, at::kFloat));
  // Any number of rows may be massive, and oneDNN makes and keeps a kernel for each it sees.
  const int64_t more = (kMassiveStep - rows.size(0) % kMassiveStep) % kMassiveStep;
  const at::Tensor wide = WideMlp(spec, weights.mlp, at::constant_pad_nd(again, {0, 0, 0, more}));
  return out.index_copy(0, rows, wide.narrow(0, 0, rows.size(0)));
}

}  // namespace

at::Tensor RunMlp(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                  const at::Tensor& stream, const BlockTap& tap, int64_t first_row) {
  const bool normed = weights.mlp_output_norm.weight.defined();
  const at::Tensor out =
      PlainMlp(spec, weights, in, normed ? at::Tensor() : stream, tap, first_row);
  return Normalize(spec.norm, out, weights.mlp_output_norm, spec.norm_epsilon);
}

}  // namespace sinkd
