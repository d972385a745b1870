// Which keys of a GGUF file say what config.json says, by model type.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sinkd {

struct GgufKey {
  enum class As { kInteger, kNumber, kFlag };
  std::string_view key;  // after "<architecture>."
  std::string_view name;
  As as = As::kInteger;
  bool required = false;  // others may be absent, and the family fills them
};

// True in config.json where a tensor's name ends so.
struct GgufFlag {
  std::string_view name;
  std::string_view tensor;
};

// A key of config.json that has another name, or with "" is not there.
struct GgufRename {
  std::string_view key;
  std::string_view name;
};

// What else a model type has, or calls otherwise than llama. An empty name: it has no such key.
struct GgufTypeKeys {
  std::string_view activation = "silu";  // which the file does not say
  std::string_view norm_epsilon = "rms_norm_eps";
  bool layer_norm = false;           // the file has the epsilon under attention.layer_norm_epsilon
  std::string_view partial_rotary;   // the share of each head's channels that rotate
  std::string_view rotary_channels;  // or how many do
  int64_t gating = 0;                // the only expert_gating_func that is computed; 0: any
  std::span<const GgufKey> keys;
  std::span<const GgufFlag> flags;
  std::span<const GgufRename> renames;
};

const GgufTypeKeys& GgufKeysOf(std::string_view model_type);

// The row of `key`, or null.
const GgufKey* FindGgufKey(std::string_view model_type, std::string_view key);

}  // namespace sinkd
