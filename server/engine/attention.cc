#include "server/engine/attention.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace sinkd {
namespace {

// Scores of one strip stay near the caches: H x queries x keys elements at most.
constexpr int64_t kStripElements = int64_t{1} << 21;
constexpr int64_t kMinQueries = 16;
constexpr int64_t kMaxQueries = 256;

int64_t StripQueries(int64_t heads, int64_t positions) {
  return std::clamp(kStripElements / std::max<int64_t>(1, heads * positions), kMinQueries,
                    kMaxQueries);
}

// -inf where query `first_query + i` must not see key `first_key + j`, else 0. [queries, keys]
at::Tensor StripMask(int64_t first_query, int64_t queries, int64_t first_key, int64_t keys,
                     int64_t window, const at::TensorOptions& options) {
  const at::TensorOptions index = options.dtype(at::kLong);
  const at::Tensor query = at::arange(first_query, first_query + queries, index).unsqueeze(1);
  const at::Tensor key = at::arange(first_key, first_key + keys, index).unsqueeze(0);
  at::Tensor hidden = key > query;
  if (window > 0) hidden = hidden.logical_or(key <= query - window);
  return at::zeros({queries, keys}, options)
      .masked_fill_(hidden, -std::numeric_limits<float>::infinity());
}

// Softmax over the last axis; the share of a learned sink, which goes to no key, comes last.
at::Tensor Shares(const at::Tensor& scores, const at::Tensor& sinks) {
  if (!sinks.defined()) return at::softmax(scores, -1);
  const at::Tensor column = sinks.view({-1, 1, 1}).expand({scores.size(0), scores.size(1), 1});
  return at::softmax(at::cat({scores, column}, -1), -1);
}

}  // namespace

at::Tensor Attend(const AttentionInput& input, TapObserver* observer, int64_t block,
                  int64_t sample) {
  const int64_t positions = input.q.size(0);
  const int64_t heads = input.q.size(1);
  const int64_t size = input.q.size(2);
  const int64_t kv_heads = input.k.size(1);
  const int64_t group = heads / kv_heads;
  // Query heads h of one group share key head h / group, so a group is one matrix product.
  const at::Tensor q = (input.q * input.scale)
                           .view({positions, kv_heads, group, size})
                           .permute({1, 2, 0, 3})
                           .contiguous();                        // [K, G, T, D]
  const at::Tensor k = input.k.permute({1, 2, 0}).contiguous();  // [K, D, T]
  const at::Tensor v = input.v.permute({1, 0, 2}).contiguous();  // [K, T, D]
  at::Tensor out = at::empty({positions, heads, size}, input.q.options());
  const bool tapped = observer != nullptr && observer->WantsAttention(block);
  const int64_t step = StripQueries(heads, positions);
  for (int64_t first = 0; first < positions; first += step) {
    const int64_t queries = std::min(step, positions - first);
    const int64_t first_key = input.window > 0 ? std::max<int64_t>(0, first - input.window + 1) : 0;
    const int64_t keys = first + queries - first_key;
    const at::Tensor strip = q.narrow(2, first, queries).reshape({kv_heads, group * queries, size});
    at::Tensor scores =
        at::bmm(strip, k.narrow(2, first_key, keys)).view({kv_heads * group, queries, keys});
    if (input.cap > 0) scores = at::tanh(scores / input.cap) * input.cap;
    // Without a window only the last columns can lie ahead of a query.
    const int64_t masked = input.window > 0 ? keys : queries;
    scores.narrow(2, keys - masked, masked)
        .add_(StripMask(first, queries, first_key + keys - masked, masked, input.window,
                        input.q.options()));
    const at::Tensor shares = Shares(scores, input.sinks);
    const at::Tensor weights = shares.narrow(2, 0, keys).contiguous();
    const at::Tensor sink_mass = input.sinks.defined() ? shares.select(2, keys) : at::Tensor();
    if (tapped) {
      observer->OnAttention({block, sample, first, first_key, positions, weights, sink_mass});
    }
    const at::Tensor mixed =
        at::bmm(weights.view({kv_heads, group * queries, keys}), v.narrow(1, first_key, keys));
    out.narrow(0, first, queries).copy_(mixed.view({heads, queries, size}).transpose(0, 1));
  }
  return out.view({positions, heads * size});
}

}  // namespace sinkd
