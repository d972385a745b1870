#include "server/engine/forward/experts.h"

#include <tuple>

#include <ATen/ATen.h>

#include "server/engine/forward/gated_units.h"
#include "server/engine/forward/linear.h"

namespace sinkd {
namespace {

struct Routes {
  at::Tensor expert;  // [rows, per_token] int64
  at::Tensor weight;  // [rows, per_token] float32
};

Routes Route(const ExpertSpec& experts, const at::Tensor& logits) {
  if (experts.routing == Routing::kTopThenSoftmax) {
    const auto [top, index] = logits.topk(experts.per_token, -1);
    return {.expert = index, .weight = at::softmax(top, -1)};
  }
  auto [top, index] = at::softmax(logits, -1).topk(experts.per_token, -1);
  if (experts.renormalize) top = top / top.sum(-1, /*keepdim=*/true);
  return {.expert = index, .weight = top};
}

// What the projection down reads: nothing else of the units is held for it.
at::Tensor Product(const DecoderSpec& spec, const MlpWeights& expert, const at::Tensor& in) {
  const Units units = SplitUnits(spec.gating, Linear(in, expert.gate_up, expert.gate_up_bias), 1);
  return ProductOf(spec, units, ActOf(spec, units)).to(in.scalar_type());
}

at::Tensor RunExpert(const DecoderSpec& spec, const MlpWeights& expert, const at::Tensor& in) {
  if (in.scalar_type() != expert.down.scalar_type()) return WideMlp(spec, expert, in);
  return Linear(Product(spec, expert, in), expert.down, expert.down_bias).to(at::kFloat);
}

}  // namespace

at::Tensor RunExperts(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                      at::ScalarType type) {
  // Which experts a row goes to hangs on small differences, so the router works in float32.
  const at::Tensor logits =
      Linear(in, weights.router.to(at::kFloat),
             weights.router_bias.defined() ? weights.router_bias.to(at::kFloat) : at::Tensor());
  const at::Tensor narrow = in.to(type);
  const Routes routes = Route(spec.experts, logits);
  at::Tensor sum = at::zeros(in.sizes(), in.options());
  for (int64_t e = 0; e < spec.experts.count; ++e) {
    const at::Tensor chosen = (routes.expert == e).nonzero();  // [n, 2]: row, place
    if (chosen.size(0) == 0) continue;
    const at::Tensor rows = chosen.select(1, 0);
    const at::Tensor weight = routes.weight.index({rows, chosen.select(1, 1)}).unsqueeze(1);
    const at::Tensor out =
        RunExpert(spec, weights.experts[static_cast<size_t>(e)], narrow.index_select(0, rows));
    sum.index_add_(0, rows, out * weight);
  }
  return sum;
}

}  // namespace sinkd
