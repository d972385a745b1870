// ActivationScheme: how a quantized release rounds the inputs of its projections.
//
// Thread-safety: plain values; pure functions. Errors: those of ConfigReader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/families/config_reader.h"

namespace sinkd {

enum class ActivationRounding { kNone, kInt8, kFp8 };

struct ActivationScheme {
  ActivationRounding rounding = ActivationRounding::kNone;
  int64_t group = 0;  // inputs of a token that share a scale; 0: all

  bool operator==(const ActivationScheme&) const = default;
};

// The contents of a quantization_config.
struct StoredActivations {
  ActivationScheme scheme;
  std::string other;  // a scheme that cannot be applied, for people
};

// For the methods compressed-tensors and fp8.
absl::StatusOr<StoredActivations> ReadActivations(const ConfigReader& config,
                                                  std::string_view method);

// "int8 per token", "fp8 per 128 inputs of a token"; empty for none.
std::string ActivationText(const ActivationScheme& scheme);

}  // namespace sinkd
