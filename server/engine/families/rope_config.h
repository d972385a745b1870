// Rotary settings of a checkpoint, old keys (`rope_theta`, `rope_scaling` with `type` or
// `rope_type`) and new ones (`rope_parameters`). Source: transformers modeling_rope_utils.py.
#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/families/config_reader.h"

namespace sinkd {

// What the family knows where the config is silent.
struct RopeDefaults {
  int64_t head_size = 0;
  int64_t max_positions = 0;  // stands in where the scaling does not name the original context
  double theta = 10000.0;
  double partial = 1.0;    // share of a head's channels that rotate
  std::string layer_type;  // which entry of a rope_parameters that has one per layer type
};

// Errors: FAILED_PRECONDITION naming an unknown kind or a missing key.
absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, const RopeDefaults& defaults);

}  // namespace sinkd
