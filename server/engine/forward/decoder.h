// The forward pass, written once: blocks of a DecoderSpec over a packed batch, every intermediate
// shown to a tap. No lm_head. Internal to the engine.
//
// Each block runs over all groups of rows (decoder_pass.h) before the next one begins, so that a
// block read from disk serves the whole batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>

#include <absl/status/status.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/edits.h"
#include "server/engine/forward/decoder_pass.h"
#include "server/engine/taps/taps.h"
#include "server/engine/weights/block_source.h"
#include "server/engine/weights/weights.h"

namespace sinkd {

struct ForwardOptions {
  std::optional<int64_t> end_block;       // blocks from here on do not run; L when absent
  std::span<const Variant* const> edits;  // of each sample; empty: none
};

class Decoder {
 public:
  // All are borrowed and must outlive the decoder.
  Decoder(const DecoderSpec& spec, const OuterWeights& outer, const BlockSource& blocks)
      : spec_(spec), outer_(outer), blocks_(blocks) {}

  // CANCELLED when `stop` is triggered, checked before every block of every group; and the errors
  // of `blocks`.
  absl::Status Forward(const PackedBatch& batch, TapObserver& observer, const std::stop_token& stop,
                       const ForwardOptions& options = {}) const;

  // The rest of a pass, from block `first` on.
  absl::Status Continue(DecoderPass& pass, int64_t first, TapObserver& observer,
                        const std::stop_token& stop, const ForwardOptions& options) const;

 private:
  const DecoderSpec& spec_;
  const OuterWeights& outer_;
  const BlockSource& blocks_;
};

}  // namespace sinkd
