#include "server/engine/forward/attention_by_calls.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

int64_t Padded(int64_t channels, int64_t alignment) {
  return (channels + alignment - 1) / alignment * alignment;
}

at::Tensor PadChannels(const at::Tensor& rows, int64_t channels) {
  return rows.size(3) == channels ? rows : at::constant_pad_nd(rows, {0, channels - rows.size(3)});
}

// Numbers of `type` that add up to those given, in n further channels.
at::Tensor Pieces(at::Tensor values, int64_t n, at::ScalarType type) {
  std::vector<at::Tensor> pieces;
  for (int64_t p = 0; p < n; ++p) {
    pieces.push_back(values.to(type));
    values = values - pieces.back().to(at::kFloat);
  }
  return at::stack(pieces, -1);
}

class TwoCalls {
 public:
  TwoCalls(const FusedCall& call, const AttentionInput& input)
      : call_(call),
        input_(input),
        samples_(input.samples),
        positions_(input.positions()),
        heads_(input.q.size(1)),
        q_(BySample(input.q)),
        k_(BySample(input.k)) {}

  // [S, T, H, E] float32
  at::Tensor Mix() {
    const at::Tensor v = BySample(input_.v);
    const int64_t channels = Padded(std::max(q_.size(3), v.size(3)), call_.alignment);
    const FusedCall::Output first =
        call_.run(PadChannels(q_, channels), PadChannels(k_, channels), PadChannels(v, channels),
                  input_.scale, input_.window);
    total_ = first.lse;
    const at::Tensor out = first.out.narrow(3, 0, v.size(3)).to(at::kFloat);
    if (!input_.sinks.defined()) return out;
    total_ = at::logaddexp(first.lse, Sinks());
    return out * at::exp(first.lse - total_).transpose(1, 2).unsqueeze(3);
  }

  // After Mix.
  void AddSums(AttentionSums& sums) const {
    sums.column.add_(ColumnSums());
    sums.self.add_(SelfWeights());
    if (sums.prefix.size(2) > 0) sums.prefix.add_(PrefixSums(sums.prefix.size(2)));
    if (!sums.sink_mass.defined()) return;
    sums.sink_mass.add_(at::exp(Sinks() - total_).sum(2, /*keepdim=*/false, at::kDouble));
  }

 private:
  // [S, T, H, channels] in the call's type: heads that share keys each get a copy.
  at::Tensor BySample(const at::Tensor& rows) const {
    const at::Tensor typed = rows.unflatten(0, {samples_, positions_}).to(call_.type);
    const int64_t group = heads_ / rows.size(1);
    return group == 1 ? typed : typed.repeat_interleave(group, 2);
  }

  at::Tensor Sinks() const { return input_.sinks.view({1, heads_, 1}); }

  at::Tensor ColumnSums() const {
    const at::Tensor added =
        Pieces((total_ / -input_.scale).transpose(1, 2), call_.pieces, call_.type);
    const int64_t channels = Padded(q_.size(3) + call_.pieces, call_.alignment);
    const at::Tensor queries = PadChannels(at::cat({k_, at::ones_like(added)}, 3), channels);
    const at::Tensor keys = PadChannels(at::cat({q_, added}, 3), channels);
    const at::Tensor reversed = keys.flip(1);
    const FusedCall::Output second =
        call_.run(queries.flip(1), reversed, reversed, input_.scale, input_.window);
    return at::exp(second.lse.to(at::kDouble)).flip(2);
  }

  at::Tensor SelfWeights() const {
    const at::Tensor products = (q_.to(at::kFloat) * k_.to(at::kFloat)).sum(3);
    return at::exp(products.transpose(1, 2) * input_.scale - total_);
  }

  // Few: their weights are made.
  at::Tensor PrefixSums(int64_t prefix) const {
    const auto first = [prefix](const at::Tensor& all) {
      return all.narrow(1, 0, prefix).transpose(1, 2).to(at::kFloat);
    };
    const at::Tensor scores = at::matmul(first(q_), first(k_).transpose(2, 3)) * input_.scale;
    at::Tensor weights = at::exp(scores - total_.narrow(2, 0, prefix).unsqueeze(3)).tril();
    if (input_.window > 0) weights = weights.triu(1 - input_.window);
    return weights.sum(2, /*keepdim=*/false, at::kDouble);
  }

  const FusedCall& call_;
  const AttentionInput& input_;
  const int64_t samples_, positions_, heads_;
  const at::Tensor q_, k_;  // [S, T, H, D] in the call's type
  at::Tensor total_;        // [S, H, T] float32: lse, learned sinks included
};

}  // namespace

at::Tensor AttendByCalls(const FusedCall& call, const AttentionInput& input, AttentionSums* sums) {
  TwoCalls calls(call, input);
  const at::Tensor out = calls.Mix();
  if (sums != nullptr) calls.AddSums(*sums);
  return out.reshape({input.q.size(0), -1});
}

int64_t AttentionByCallsBytes(const FusedCall& call, int64_t samples, int64_t positions,
                              int64_t heads, const HeadShape& shape) {
  const int64_t typed = call.type == at::kBFloat16 ? 2 : 4;
  const int64_t width = Padded(std::max(shape.head_size, shape.value_size), call.alignment);
  const int64_t wider = Padded(shape.head_size + call.pieces, call.alignment);
  // q and k in the type; then either three padded inputs and an output, or the second call's
  // inputs before and after they are turned round, and its output.
  const int64_t of_row =
      typed * (2 * shape.head_size + std::max(4 * width, 5 * wider)) + 4 * shape.value_size;
  const int64_t of_query = 8 + 8 + 4 + 4 * 4;  // column sums twice, own weights, log-sum-exps
  return samples * positions * heads * (of_row + of_query);
}

}  // namespace sinkd
