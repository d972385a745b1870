// AttentionSums: what is kept of the softmax weights of samples of one length. Internal to the
// engine.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

// On the device of the weights. S samples of T positions, H heads.
struct AttentionSums {
  // Zeros. `prefix` as below; without learned sinks, `sink_mass` stays undefined.
  AttentionSums(int64_t samples, int64_t heads, int64_t positions, int64_t prefix,
                bool learned_sinks, const at::Device& device);

  // Adds the weights of some queries: [S, heads, queries, keys] float32, of heads from `first_head`
  // on, and so on. `mass` [S, heads, queries] float32 is what goes to learned sinks; or undefined.
  void Add(const at::Tensor& weights, const at::Tensor& mass, int64_t first_head,
           int64_t first_query, int64_t first_key);

  at::Tensor column;     // [S, H, T] float64: of each key, the sum over all queries
  at::Tensor self;       // [S, H, T] float32: of each query, its weight for itself
  at::Tensor prefix;     // [S, H, P] float64: column sums over the first P queries and keys
  at::Tensor sink_mass;  // [S, H] float64: the sum over queries of what goes to the learned sink
};

}  // namespace sinkd
