// Checks of blocks and positions that a caller names.
//
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <span>

#include <absl/status/status.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

absl::Status CheckBlock(const DecoderSpec& spec, int64_t block);

// Of a sample of `length` tokens.
absl::Status CheckPositions(std::span<const int64_t> positions, int64_t length);

}  // namespace sinkd
