// Checks of edits that a caller asks for.
//
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <span>

#include <absl/status/status.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/edits.h"

namespace sinkd {

// Of a sample of `length` tokens.
absl::Status CheckVariants(const DecoderSpec& spec, std::span<const Variant> variants,
                           int64_t length);

}  // namespace sinkd
