// BlockPass: one block over one group of rows. Internal to the engine.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <ATen/core/Tensor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/forward/rope.h"
#include "server/engine/forward/row_group.h"
#include "server/engine/interventions/block_editor.h"
#include "server/engine/taps/block_tap.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

// What blocks of one pass share, for the rows of one group.
struct SharedRows {
  at::Tensor token_inputs;  // [rows, L, width] float32 of DecoderSpec::token_inputs, or undefined
  // Of the blocks whose keys and values others read, as BlockPass makes them.
  std::map<int64_t, std::pair<at::Tensor, at::Tensor>> keys_and_values;
};

class BlockPass {
 public:
  // All are borrowed. `rope` is of the weights' device; `editor` is null where nothing is edited;
  // `shared` is of the group, and Run adds to it.
  BlockPass(const DecoderSpec& spec, const BlockWeights& weights, int64_t block,
            const RowGroup& group, SharedRows& shared, RopeCache& rope, TapObserver& observer,
            const BlockEditor* editor = nullptr)
      : spec_(spec),
        w_(weights),
        block_(block),
        group_(group),
        shared_(shared),
        rope_(rope),
        shape_(spec.HeadsOf(block)),
        observer_(observer),
        editor_(editor),
        tap_(observer, block, group.first_row) {}

  // The block's output for its input `x`, both [rows, C] float32.
  at::Tensor Run(at::Tensor x) const;

  // The same, given `attention` [rows, C], what attention adds. Rows do not mix here: the group may
  // be any rows, of whatever samples.
  at::Tensor Join(at::Tensor x, at::Tensor attention) const;

 private:
  struct Projected {
    // [rows, heads, head_size] float32, q and k rotated, a head's rows together
    at::Tensor q, k, v;
    at::Tensor gate;  // [rows, H D] float32, what attention is multiplied by; undefined: nothing
  };

  // What mixer and MLP add to the stream, [rows, C] float32: the mixer reads `in`, the MLP the
  // stream `x` itself.
  at::Tensor Mix(at::Tensor in) const;
  at::Tensor Attention(at::Tensor in) const;
  at::Tensor Mlp(const at::Tensor& x) const;
  // The stream `x` with the block's further input, scaled.
  at::Tensor AfterMlp(at::Tensor x) const;
  Projected Project(at::Tensor in) const;
  // Gives others the block's keys and values, or takes those of another block.
  void ShareKeys(Projected& projected) const;
  Projected ProjectLatents(at::Tensor in) const;
  // `rows` [rows, heads, head_size], rotated as the block does, a head's rows together.
  at::Tensor Rotated(const at::Tensor& rows, const RopeTables* tables) const;
  at::Tensor Clipped(const at::Tensor& rows) const;
  // Of projections as BlockWeights::qkv makes them.
  at::Tensor Gate(const at::Tensor& qkv) const;
  // Attention of every sample, [rows, H E], in the type that the output reads.
  at::Tensor Mixed(const Projected& projected) const;
  // `rows` as edited, shown to the tap.
  at::Tensor Edited(Site site, const at::Tensor& rows, int64_t first_row = 0) const;
  // Applies a norm that the decoder may not have.
  at::Tensor Norm(const NormWeights& norm, const at::Tensor& x) const;

  const DecoderSpec& spec_;
  const BlockWeights& w_;
  const int64_t block_;
  const RowGroup& group_;
  SharedRows& shared_;
  RopeCache& rope_;
  const HeadShape shape_;
  TapObserver& observer_;
  const BlockEditor* editor_;
  const BlockTap tap_;
};

}  // namespace sinkd
