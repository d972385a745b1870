// What a forward pass needs beside the weights.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Bytes at the peak of a forward pass with a full trace over samples of these `lengths`, packed: R
// rows in all, G in the largest group (G <= max(2048, T)), T in the longest sample; C, H, K, D, I,
// L as in DecoderSpec; float32:
//   4 (R + 2 G) C                            the stream, what is read of it, what is added to it
//   4 (G Q + T (2 Q + H D)), Q = (H + 2K) D  projections; rotated, regrouped; attention's output
//   4 G H D, for more than one sample        the same, joined
//   4 * 2 max(2^20, 32 H T)                  scores of one strip of queries, and what it becomes
//   4 min(G, 512) (C + 4 I)                  the MLP's units, in pieces
//   4 L R (5 + 2 H) * 2                      the trace, on the device and as it leaves
// All of it is added up, though attention is over when the MLP begins: pieces of other sizes do not
// fit where it was. Where oneDNN makes the products (ProductMethods), half of it comes on top, as
// measured on one model: each product is a sum of parts, and these lie beside it and leave holes.
// Where bfloat16 products are made in float32, the largest weight is there in float32:
// 4 max(2 I C, Q C).
int64_t ForwardBytes(const DecoderSpec& spec, std::string_view compute_type,
                     std::string_view device, std::span<const int64_t> lengths);

}  // namespace sinkd
