// What a forward pass needs beside the weights; docs/memory.md has the formula and what was
// measured.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Bytes at the peak of a forward pass with a full trace over samples of these `lengths`, packed.
int64_t ForwardBytes(const DecoderSpec& spec, std::string_view compute_type,
                     std::string_view device, std::span<const int64_t> lengths);

}  // namespace sinkd
