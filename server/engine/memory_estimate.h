// What a forward pass needs beside the weights.
//
// Thread-safety: pure function.
#pragma once

#include <cstdint>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Bytes at the peak of a forward pass with a full trace over one sample of `positions` tokens,
// linear in it (T; C, H, K, D, I, L as in DecoderSpec):
//   4 T (3 C + 2 (H + 2K) D + 2 H D)         stream, projections, rotated and regrouped copies
//   4 * 4 * strip                             scores and weights of one strip, H x queries x keys
//   4 min(T, 2048) (C + 4 I)                  the MLP's units, in pieces
//   4 L T (5 + 2 H) * 2                       the trace, on the device and as it leaves
// Attention and MLP do not peak together: the larger counts.
int64_t ActivationBytes(const DecoderSpec& spec, int64_t positions);

}  // namespace sinkd
