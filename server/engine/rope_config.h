// Rotary settings of a checkpoint, old keys (`rope_theta`, `rope_scaling` with `type` or
// `rope_type`) and new ones (`rope_parameters`). Source: transformers modeling_rope_utils.py.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/config_reader.h"
#include "server/engine/decoder_spec.h"

namespace sinkd {

// `max_positions` stands in where the scaling does not name the original context.
// Errors: FAILED_PRECONDITION naming an unknown kind or a missing key.
absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, int64_t max_positions);

}  // namespace sinkd
