// Memory that a forward pass needs in addition to the weights. docs/memory.md has the formula and
// the measurements.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/engine/decoder_spec.h"

namespace sinkd {

// Peak bytes of a forward pass with a full trace over packed samples of these `lengths`.
int64_t ForwardBytes(const DecoderSpec& spec, std::string_view compute_type,
                     std::string_view device, std::span<const int64_t> lengths);

}  // namespace sinkd
