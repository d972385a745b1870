// The forward pass, written once: blocks of a DecoderSpec over a packed batch, every intermediate
// shown to a tap. No lm_head. Internal to the engine.
//
// A packed batch is all samples end to end, N = sum of T rows. It runs in groups of whole samples:
// linear layers see a group's rows at once, attention each sample alone, so a sample's numbers do
// not depend on its batch mates. Each block runs over all groups before the next one begins, so
// that a block read from disk serves the whole batch.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/block_source.h"
#include "server/engine/decoder_spec.h"
#include "server/engine/taps.h"
#include "server/engine/weights.h"

namespace sinkd {

struct PackedBatch {
  at::Tensor ids;                // [N] int64, on the embedding's device
  std::vector<int64_t> offsets;  // first row of each sample, then N
};

class Decoder {
 public:
  // All are borrowed and must outlive the decoder.
  Decoder(const DecoderSpec& spec, const OuterWeights& outer, const BlockSource& blocks)
      : spec_(spec), outer_(outer), blocks_(blocks) {}

  // Runs all blocks. CANCELLED when `stop` is triggered, checked before every block of every group;
  // and the errors of `blocks`.
  absl::Status Forward(const PackedBatch& batch, TapObserver& observer,
                       const std::stop_token& stop) const;

 private:
  const DecoderSpec& spec_;
  const OuterWeights& outer_;
  const BlockSource& blocks_;
};

}  // namespace sinkd
