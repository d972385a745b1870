// AttentionSums: what is kept of the softmax weights of samples of one length. Internal to the
// engine.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

// What is added up of every query's weights, and how many sums that makes.
enum RowSum : int64_t {
  kRowEntropy,    // of the weights' shares, over ln of the number of visible keys
  kRowMaximum,    // the largest; this and entropy of queries with two visible keys or more
  kRowPrevious,   // for the position before the query
  kRowDuplicate,  // for earlier keys of the query's own token
  kRowSums,
};

// On the device of the weights. S samples of T positions, H heads.
struct AttentionSums {
  // Zeros. `prefix` as below; without learned sinks, `sink_mass` stays undefined, and `rows` unless
  // they are wanted.
  AttentionSums(int64_t samples, int64_t heads, int64_t positions, int64_t prefix,
                bool learned_sinks, const at::Device& device, bool row_sums = false);

  // Adds the weights of some queries: [S, heads, queries, keys] float32, of heads from `first_head`
  // on, and so on. `mass` [S, heads, queries] float32 is what goes to learned sinks; or undefined.
  void Add(const at::Tensor& weights, const at::Tensor& mass, int64_t first_head,
           int64_t first_query, int64_t first_key);

  // The same for `rows`. `same` [S, queries, keys] float32 is 1 for keys that count as duplicates,
  // else 0; `visible` [queries] float32 is the number of keys that each query sees.
  void AddRows(const at::Tensor& weights, const at::Tensor& same, const at::Tensor& visible,
               int64_t first_head, int64_t first_query, int64_t first_key);

  at::Tensor column;     // [S, H, T] float64: of each key, the sum over all queries
  at::Tensor self;       // [S, H, T] float32: of each query, its weight for itself
  at::Tensor prefix;     // [S, H, P] float64: column sums over the first P queries and keys
  at::Tensor sink_mass;  // [S, H] float64: the sum over queries of what goes to the learned sink
  at::Tensor rows;       // [S, H, kRowSums] float64: sums over queries
  int64_t choosing = 0;  // queries of a sample that see two keys or more
};

}  // namespace sinkd
