// Taps: the one hook mechanism. The forward pass shows every intermediate to one observer; the
// observer says what it wants - nothing, by default - so that nothing is computed or kept for
// nobody.
//
// Internal to the engine (torch in the signatures).
// Thread-safety: an observer belongs to one forward pass and is called from its thread only.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "server/engine/forward/attention_sums.h"
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

  // Ids of the packed batch, [N] int32: row sums and norms of values are wanted wherever attention
  // is. Undefined: they are not.
  virtual at::Tensor Tokens() const { return {}; }

  // P: of how many first positions the weights are also summed by themselves.
  virtual int64_t AttentionPrefix() const { return 0; }

  // Of samples that are equally long and follow each other, from `first_sample` of the batch on.
  // They may be kept.
  virtual void OnAttention(int64_t /*block*/, int64_t /*first_sample*/,
                           const AttentionSums& /*sums*/) {}

  // Of a block whose attention is wanted, with Tokens: ||W_o v|| of the values of each head, of its
  // part of the output projection, for positions as OnRows counts them. [rows, heads] float32
  virtual void OnValueNorms(int64_t /*block*/, int64_t /*first_row*/, const at::Tensor& /*norms*/) {
  }

  // Of a block whose attention is gated and wanted: the mean of a head's gate over its channels,
  // for queries as OnRows counts them. [rows, heads] float32
  virtual void OnGates(int64_t /*block*/, int64_t /*first_row*/, const at::Tensor& /*gates*/) {}
};

}  // namespace sinkd
