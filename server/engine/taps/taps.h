// Taps: the one hook mechanism. The forward pass shows every intermediate to one observer; the
// observer says what it wants - nothing, by default - so that nothing is computed or kept for
// nobody.
//
// Internal to the engine (torch in the signatures).
// Thread-safety: an observer belongs to one forward pass and is called from its thread only.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "server/engine/site.h"

namespace sinkd {

class TapObserver {
 public:
  virtual ~TapObserver() = default;

  virtual bool Wants(Site /*site*/, int64_t /*block*/) const { return false; }

  // Rows `first_row`, ... of the packed batch (all samples end to end). Gate, up and product are of
  // the weights' dtype, all else is float32. The tensor may be kept but not written to. A site may
  // come in several calls; a mixture of experts shows no gate, up, act and product, since a row has
  // several of each.
  virtual void OnRows(Site /*site*/, int64_t /*block*/, int64_t /*first_row*/,
                      const at::Tensor& /*rows*/) {}

  virtual bool WantsAttention(int64_t /*block*/) const { return false; }

  // Softmax weights of some queries and some or all heads of samples that are equally long and
  // follow each other, [samples, heads, queries, keys] float32. Sample s of the tensor is sample
  // first_sample + s, head h head first_head + h, query i position first_query + i, key j position
  // first_key + j. Strips come in ascending order of query for the same heads, these in ascending
  // order for the same samples, these one after the other.
  struct AttentionStrip {
    int64_t block;
    int64_t first_sample;  // in the batch
    int64_t first_head;
    int64_t first_query;
    int64_t first_key;
    int64_t positions;  // T of each sample
    const at::Tensor& weights;
    // [samples, heads, queries] float32: the share of each query's softmax that goes to the head's
    // learned sink; undefined in a block without learned sinks.
    const at::Tensor& learned_sink_mass;
  };
  virtual void OnAttention(const AttentionStrip& /*strip*/) {}

  // Of a block whose attention is gated and wanted: the mean of a head's gate over its channels,
  // for queries as OnRows counts them. [rows, heads] float32
  virtual void OnGates(int64_t /*block*/, int64_t /*first_row*/, const at::Tensor& /*gates*/) {}
};

}  // namespace sinkd
