#include "server/engine/forward/attention_sums.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

namespace sinkd {

// Sums over many strips: float64, so that a long sample loses nothing.
AttentionSums::AttentionSums(int64_t samples, int64_t heads, int64_t positions, int64_t prefix_size,
                             bool learned_sinks, const at::Device& device, bool row_sums) {
  const at::TensorOptions options = at::TensorOptions().dtype(at::kDouble).device(device);
  column = at::zeros({samples, heads, positions}, options);
  self = at::zeros({samples, heads, positions}, options.dtype(at::kFloat));
  prefix = at::zeros({samples, heads, std::min(prefix_size, positions)}, options);
  if (learned_sinks) sink_mass = at::zeros({samples, heads}, options);
  if (row_sums) rows = at::zeros({samples, heads, kRowSums}, options);
}

void AttentionSums::Add(const at::Tensor& weights, const at::Tensor& mass, int64_t first_head,
                        int64_t first_query, int64_t first_key) {
  const int64_t queries = weights.size(2);
  const int64_t keys = weights.size(3);
  const auto of_heads = [&](const at::Tensor& all) {
    return all.narrow(1, first_head, weights.size(1));
  };
  of_heads(column).narrow(2, first_key, keys).add_(weights.sum(2));
  of_heads(self)
      .narrow(2, first_query, queries)
      .copy_(weights.diagonal(first_query - first_key, 2, 3));
  if (mass.defined()) of_heads(sink_mass).add_(mass.sum(2, false, at::kDouble));
  const int64_t size = prefix.size(2);
  if (first_query >= size || first_key >= size) return;
  const int64_t some = std::min(queries, size - first_query);
  const int64_t columns = std::min(keys, size - first_key);
  of_heads(prefix)
      .narrow(2, first_key, columns)
      .add_(weights.narrow(2, 0, some).narrow(3, 0, columns).sum(2));
}

void AttentionSums::AddRows(const at::Tensor& weights, const at::Tensor& same,
                            const at::Tensor& visible, int64_t first_head, int64_t first_query,
                            int64_t first_key) {
  constexpr float kTiny = std::numeric_limits<float>::min();
  const at::Tensor logs = weights.clamp_min(kTiny).log_().mul_(weights).sum(3);
  const at::Tensor total = weights.sum(3).clamp_min_(kTiny);  // less than 1 beside a learned sink
  const at::Tensor several = visible.gt(1).to(at::kFloat);
  const at::Tensor entropy = (total.log() - logs / total) / visible.clamp_min(2).log();
  const at::Tensor products = at::bmm(weights.flatten(2), same.flatten(1).unsqueeze(2));
  const auto add = [&](RowSum which, const at::Tensor& of_queries) {
    rows.narrow(1, first_head, weights.size(1))
        .select(2, which)
        .add_(of_queries.sum(2, false, at::kDouble));
  };
  add(kRowEntropy, entropy * several);
  add(kRowMaximum, weights.amax(3) * several);
  add(kRowPrevious, weights.diagonal(first_query - first_key - 1, 2, 3));
  add(kRowDuplicate, products);
}

}  // namespace sinkd
