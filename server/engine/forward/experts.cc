#include "server/engine/forward/experts.h"

#include <limits>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>

#include "server/engine/forward/gated_units.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/round_activations.h"

namespace sinkd {
namespace {

struct Routes {
  at::Tensor expert;  // [rows, per_token] int64
  at::Tensor weight;  // [rows, per_token] float32
};

// Weights of the experts that may be selected, -inf for all others.
at::Tensor OfBestGroups(const ExpertSpec& experts, const at::Tensor& weights) {
  const at::Tensor grouped = weights.unflatten(-1, {experts.groups, -1});
  const at::Tensor rank = std::get<0>(grouped.topk(experts.group_best, -1)).sum(-1);
  const at::Tensor best = std::get<1>(rank.topk(experts.groups_chosen, -1));
  const at::Tensor others = at::ones_like(rank, at::kBool).scatter_(1, best, false).unsqueeze(-1);
  return grouped.masked_fill(others, -std::numeric_limits<float>::infinity()).flatten(-2);
}

// SparseMixer-v2 as it infers (arXiv 2409.12136): the weight of each expert selected is its share
// among those left whose logits are near its own.
Routes SparseMixer(const ExpertSpec& experts, const at::Tensor& logits) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  at::Tensor left = logits;
  std::vector<at::Tensor> index, weight;
  for (int64_t place = 0; place < experts.per_token; ++place) {
    const auto [largest, chosen] = left.max(-1, /*keepdim=*/true);
    const at::Tensor distance = (largest - logits) / at::maximum(logits.abs(), largest);
    const at::Tensor near = left.masked_fill(distance > 2 * experts.jitter, kNever);
    index.push_back(chosen);
    weight.push_back(at::softmax(near, -1).gather(-1, chosen));
    left = left.scatter(-1, chosen, kNever);
  }
  return {.expert = at::cat(index, -1), .weight = at::cat(weight, -1)};
}

Routes Route(const ExpertSpec& experts, const at::Tensor& logits, const at::Tensor& correction) {
  if (experts.routing == Routing::kSparseMixer) return SparseMixer(experts, logits);
  if (experts.routing == Routing::kTopThenSoftmax) {
    const auto [top, index] = logits.topk(experts.per_token, -1);
    return {.expert = index, .weight = at::softmax(top, -1)};
  }
  const at::Tensor weights =
      experts.routing == Routing::kSigmoidThenTop ? Sigmoid(logits) : at::softmax(logits, -1);
  at::Tensor choice = correction.defined() ? weights + correction.to(at::kFloat) : weights;
  if (experts.groups > 1) choice = OfBestGroups(experts, choice);
  const at::Tensor index = std::get<1>(choice.topk(experts.per_token, -1));
  at::Tensor chosen = weights.gather(-1, index);
  if (experts.renormalize) {
    const at::Tensor sum = chosen.sum(-1, /*keepdim=*/true).clamp_min(experts.least_sum);
    chosen = chosen / (sum + experts.added_to_sum);
  }
  return {.expert = index, .weight = chosen * experts.scale};
}

// What the projection down reads: nothing else of the units is held for it.
at::Tensor Product(const DecoderSpec& spec, const MlpWeights& expert, const at::Tensor& in) {
  const Units units = SplitUnits(spec.gating, Linear(in, expert.gate_up, expert.gate_up_bias), 1);
  return ProductOf(spec, units, ActOf(spec, units, expert.act_numbers)).to(in.scalar_type());
}

at::Tensor RunExpert(const DecoderSpec& spec, const MlpWeights& expert, const at::Tensor& in) {
  if (in.scalar_type() != expert.down.scalar_type()) return WideMlp(spec, expert, in);
  const at::Tensor product = Product(spec, expert, RoundActivations(expert.input, in));
  return Linear(RoundActivations(expert.product, product), expert.down, expert.down_bias)
      .to(at::kFloat);
}

// `in` projected, where experts do not read and write the stream itself.
at::Tensor Latent(const at::Tensor& in, const at::Tensor& weights, const at::Tensor& bias) {
  if (!weights.defined()) return in;
  const auto typed = [&](const at::Tensor& t) { return t.defined() ? t.to(in.scalar_type()) : t; };
  return Linear(in, typed(weights), typed(bias));
}

// What the expert of all tokens adds.
at::Tensor RunShared(const DecoderSpec& spec, const BlockWeights& weights, const at::Tensor& in,
                     const at::Tensor& narrow) {
  const at::Tensor out = RunExpert(spec, weights.mlp, narrow);
  if (!weights.shared_router.defined()) return out;
  return out * Sigmoid(Linear(in, weights.shared_router.to(at::kFloat)));
}

}  // namespace

at::Tensor RunExperts(const DecoderSpec& spec, const BlockWeights& weights,
                      const at::Tensor& routed, const at::Tensor& in, at::ScalarType type) {
  // Which experts a row goes to hangs on small differences, so the router works in float32.
  const at::Tensor logits =
      Linear(routed, weights.router.to(at::kFloat),
             weights.router_bias.defined() ? weights.router_bias.to(at::kFloat) : at::Tensor());
  const at::Tensor narrow = in.to(type);
  const at::Tensor read = Latent(narrow, weights.expert_in, weights.expert_in_bias).to(type);
  Routes routes = Route(spec.experts, logits, weights.router_correction);
  if (weights.expert_scale.defined()) {
    routes.weight = routes.weight * weights.expert_scale.to(at::kFloat).index({routes.expert});
  }
  at::Tensor sum = at::zeros(read.sizes(), in.options());
  for (int64_t e = 0; e < spec.experts.count; ++e) {
    const at::Tensor chosen = (routes.expert == e).nonzero();  // [n, 2]: row, place
    if (chosen.size(0) == 0) continue;
    const at::Tensor rows = chosen.select(1, 0);
    const at::Tensor weight = routes.weight.index({rows, chosen.select(1, 1)}).unsqueeze(1);
    const MlpWeights& expert = weights.experts[static_cast<size_t>(e)];
    if (spec.experts.weigh_input) {
      const at::Tensor weighed = in.index_select(0, rows) * weight;
      sum.index_add_(0, rows, RunExpert(spec, expert, weighed.to(type)));
    } else {
      sum.index_add_(0, rows, RunExpert(spec, expert, read.index_select(0, rows)) * weight);
    }
  }
  sum = Latent(sum.to(type), weights.expert_out, weights.expert_out_bias).to(at::kFloat);
  if (spec.experts.shared_intermediate > 0 && weights.mlp.down.defined()) {
    sum.add_(RunShared(spec, weights, in, narrow));
  }
  return sum;
}

}  // namespace sinkd
