// The forward pass, written once: blocks of a DecoderSpec over a packed batch, every intermediate
// shown to a tap. No lm_head. Internal to the engine.
//
// A packed batch is all samples end to end, N = sum of T rows; linear layers see N rows at once,
// attention each sample alone, so a sample's numbers do not depend on its batch mates.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/rope.h"
#include "server/engine/taps.h"
#include "server/engine/weights.h"

namespace sinkd {

struct PackedBatch {
  at::Tensor ids;                // [N] int64, on the model's device
  std::vector<int64_t> offsets;  // first row of each sample, then N
};

class Decoder {
 public:
  // Both are borrowed and must outlive the decoder.
  Decoder(const DecoderSpec& spec, const DecoderWeights& weights)
      : spec_(spec), weights_(weights) {}

  // Runs all blocks. CANCELLED when `stop` is triggered, checked before every block.
  absl::Status Forward(const PackedBatch& batch, TapObserver& observer,
                       const std::stop_token& stop) const;

 private:
  // What the blocks read, [N, C] float32.
  at::Tensor Embed(const PackedBatch& batch) const;
  at::Tensor RunBlock(int64_t block, const at::Tensor& x, const PackedBatch& batch, RopeCache& rope,
                      TapObserver& observer) const;
  // What attention and MLP add to the stream when they read `in`, [N, C] float32.
  at::Tensor Attention(int64_t block, const at::Tensor& in, const PackedBatch& batch,
                       RopeCache& rope, TapObserver& observer) const;
  at::Tensor Mlp(int64_t block, const at::Tensor& x, TapObserver& observer) const;
  // Applies a norm that the decoder may not have.
  at::Tensor Norm(const NormWeights& norm, const at::Tensor& x) const;
  at::Tensor FinalState(const at::Tensor& x) const;

  const DecoderSpec& spec_;
  const DecoderWeights& weights_;
};

}  // namespace sinkd
