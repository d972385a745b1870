// What DeepSeek-V2 and its followers share: latent attention (MLA), in which queries, keys and
// values come from narrower latents, and a part of each key is one for all heads.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/families/gated_decoder.h"

namespace sinkd {

// How a family fills the keys a config leaves out.
struct LatentDefaults {
  int64_t query_rank = 1536;
  int64_t kv_rank = 512;
  int64_t own = 128;    // channels of a key that only its head has
  int64_t shared = 64;  // those that all heads share, which rotate
  int64_t values = 128;
  bool interleaved_key = true;  // rope_interleave is read; else pairs are interleaved
};

// Everything but MLP and experts. Of `defaults`, head size and rotary settings are not read.
absl::StatusOr<DecoderPlan> PlanLatentDecoder(const ConfigReader& config,
                                              GatedDecoderDefaults defaults,
                                              const LatentDefaults& latents);

// For keys of the models' own code that transformers does not read: an error unless `key` is absent
// or holds `value`.
absl::Status CheckOnly(const ConfigReader& config, std::string_view key, std::string_view value);

}  // namespace sinkd
