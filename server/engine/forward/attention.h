// Causal attention over strips of queries: softmax of a strip, shown to the tap, times the values.
// One product of queries and keys serves output and statistics alike; memory is one strip times T,
// never T x T for all heads. Internal to the engine.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/taps/taps.h"

namespace sinkd {

struct AttentionSums;

// Of S samples of one length T, end to end.
struct AttentionInput {
  // Fastest where a head's rows lie together.
  at::Tensor q;      // [S T, H, D] float32, rotated
  at::Tensor k;      // [S T, K, D] float32, rotated
  at::Tensor v;      // [S T, K, E] float32
  at::Tensor sinks;  // [H] float32: a logit that takes its share of the softmax; or undefined
  int64_t samples = 1;
  double scale = 1.0;   // multiplies the scores
  double cap = 0;       // cap * tanh(score / cap); 0 = none
  int64_t window = 0;   // keys a query sees, itself included; 0 = all before it
  int64_t chunk = 0;    // positions per chunk; a query sees keys of its chunk alone; 0: no chunks
  at::Tensor key_bias;  // [H, T] float32: added to the scores of a key; or undefined
  at::Tensor
      hidden;  // [T] float32: -inf for a key that only its own query sees, else 0; or undefined
  at::Tensor tokens;    // [S T] int32: ids, for row sums; or undefined: none are wanted
  bool narrow = false;  // products may be of q, k, weights and v rounded to bfloat16

  int64_t positions() const { return q.size(0) / samples; }  // T
  // The first key of its sample that a query sees; it is the last.
  int64_t FirstKey(int64_t query) const {
    int64_t first = 0;
    if (window > 0) first = std::max<int64_t>(0, query - window + 1);
    if (chunk > 0) first = std::max(first, query - query % chunk);
    return first;
  }
};

// -inf where query `first_query + i` must not see key `first_key + j`, else 0. [queries, keys]
at::Tensor StripMask(int64_t first_query, int64_t queries, int64_t first_key, int64_t keys,
                     int64_t window, int64_t chunk, const at::TensorOptions& options);

// What `bias` adds to the scores of the keys of a sample, [H, positions] float32; `scale` is that
// of the scores. Undefined without a bias.
at::Tensor KeyBias(const DistanceBias& bias, double scale, int64_t positions,
                   const at::TensorOptions& options);

// Returns [S T, H * E] float32: of each sample what it gets alone. `observer` may be null; block
// and the first sample's number are handed on to it.
at::Tensor Attend(const AttentionInput& input, TapObserver* observer, int64_t block,
                  int64_t first_sample);

// The same, always in strips. Adds to `sums`, which may be null.
at::Tensor AttendInStrips(const AttentionInput& input, AttentionSums* sums);

// How many samples of this length are to be taken together, so that there is enough to do between
// two calls of the libraries.
int64_t SamplesTogether(int64_t heads, int64_t positions);

// Whether a sample's key heads are taken one by one, each with its strips, and not all together.
bool KeyHeadsOneByOne(int64_t positions, bool on_cpu);

// Queries of one strip of so many heads, at most. A power of two, so that samples of other lengths
// give products of the same shapes, for which the libraries keep their kernels.
int64_t StripQueries(int64_t heads, int64_t positions);

}  // namespace sinkd
