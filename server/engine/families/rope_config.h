// Rotary settings of a checkpoint, old keys (`rope_theta`, `rope_scaling` with `type` or
// `rope_type`) and new ones (`rope_parameters`). Source: transformers 5.24.0,
// modeling_rope_utils.py and the families' configuration classes.
#pragma once

#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/families/config_reader.h"

namespace sinkd {

// What the family knows where the config is silent, and which keys it reads.
struct RopeDefaults {
  int64_t head_size = 0;
  int64_t max_positions = 0;  // stands in where the scaling does not name the original context
  double theta = 10000.0;
  double partial = 1.0;  // share of a head's channels that rotate
  std::string_view theta_key = "rope_theta";
  std::string_view partial_key;     // empty: all channels of this family rotate
  std::string_view layer_type;      // which entry of a rope_parameters that has one per layer type
  std::string_view scaling_absent;  // JSON
  double original_absent = 0;       // of the key at the top, which goes before that of the scaling
  bool only_longrope = false;       // "su" and "yarn" mean it, and there is no other
  bool interleaved = false;
  bool fixed_alpha = false;     // "dynamic" with an alpha means another theta, whatever the length
  bool in_three_parts = false;  // "mrope": with text alone, default
  bool mscales = false;         // longrope, and no other scaling, with short_mscale and long_mscale
  bool query_growth = false;    // llama_4_scaling_beta is required
  bool scales_scores = false;   // mscale_all_dim scales the scores too, twice
};

// Errors: FAILED_PRECONDITION naming an unknown kind or a missing key.
absl::StatusOr<RopeSpec> ReadRope(const ConfigReader& config, const RopeDefaults& defaults);

}  // namespace sinkd
