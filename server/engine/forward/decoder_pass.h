// DecoderPass: the residual stream of a packed batch on its way through the blocks. Internal to the
// engine.
//
// A packed batch is all samples end to end, N = sum of T rows. It runs in groups of whole samples:
// linear layers see a group's rows at once, attention each sample alone, so a sample's numbers do
// not depend on its batch mates. No lm_head.
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/edits.h"
#include "server/engine/forward/block_pass.h"
#include "server/engine/forward/rope.h"
#include "server/engine/forward/row_group.h"
#include "server/engine/taps/taps.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

struct PackedBatch {
  at::Tensor ids;                // [N] int64, on the embedding's device
  std::vector<int64_t> offsets;  // first row of each sample, then N
};

class DecoderPass {
 public:
  // Before the first block. `spec` and `outer` are borrowed and must outlive the pass.
  DecoderPass(const DecoderSpec& spec, const OuterWeights& outer, const PackedBatch& batch);

  // Somewhere between blocks: `samples` [T, C] float32 are their states there. `base` is a pass of
  // one sample with the same tokens that has run the blocks before; what blocks share is its own.
  DecoderPass(const DecoderPass& base, std::span<const at::Tensor> samples);

  // Takes every group through block `block`. `edits`: of each sample; empty for none. CANCELLED
  // when `stop` is triggered, checked before every group.
  absl::Status RunBlock(const BlockWeights& weights, int64_t block,
                        std::span<const Variant* const> edits, TapObserver& observer,
                        const std::stop_token& stop);

  // What block `block` gives for the rows `positions` [n] of the pass's only sample, [n, C], from
  // its input and attn_out there. `edits` counts positions among them; the observer sees what
  // follows attn_out. States stay as they are.
  at::Tensor JoinRows(const BlockWeights& weights, int64_t block, const at::Tensor& positions,
                      const at::Tensor& in, const at::Tensor& attention, const Variant& edits,
                      TapObserver& observer);

  // After the last block: shows kFinalNorm to an observer that wants it.
  void Finish(TapObserver& observer) const;

  // What the next block reads, [rows, C] float32 of each group.
  const std::vector<at::Tensor>& states() const { return states_; }

 private:
  RopeCache& RopeOn(const at::Device& device);

  const DecoderSpec& spec_;
  const OuterWeights& outer_;
  std::vector<RowGroup> groups_;
  std::vector<at::Tensor> states_;
  std::vector<SharedRows> shared_;          // of each group
  std::map<std::string, RopeCache> ropes_;  // by device
};

}  // namespace sinkd
