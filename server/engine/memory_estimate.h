// What a forward pass needs beside the weights.
//
// Thread-safety: pure function.
#pragma once

#include <cstdint>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Bytes at the peak of a forward pass with a full trace over one sample of `positions` tokens,
// linear in it (T; C, H, K, D, I, L as in DecoderSpec; float32):
//   4 T 3 C                                  the stream, what is read of it, what is added to it
//   4 T (3 (H + 2K) D + H D)                 projections; rotated, regrouped; attention's output
//   4 * 2 max(2^20, 16 H T)                  scores of one strip of queries, and what it becomes
//   4 min(T, 512) (C + 4 I)                  the MLP's units, in pieces
//   4 L T (5 + 2 H) * 2                      the trace, on the device and as it leaves
// All of it is added up, though attention is over when the MLP begins: pieces of other sizes do not
// fit where it was.
int64_t ActivationBytes(const DecoderSpec& spec, int64_t positions);

}  // namespace sinkd
