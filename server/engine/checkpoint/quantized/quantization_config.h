// The part of config.json about quantized weights.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION naming the key: QUANTIZED_WEIGHTS if
// the method is not supported, BAD_CONFIG if a value is invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/quantized/activation_scheme.h"
#include "server/engine/families/config_reader.h"

namespace sinkd {

// One of compressed-tensors' schemes for weights.
struct WeightScheme {
  int64_t bits = 0;
  std::string strategy;  // "tensor", "channel", "group", "block", "tensor_group"
  bool symmetric = true;
  std::vector<double> block;  // for the strategy "block": rows and columns that share a scale
};

struct QuantizationConfig {
  std::string method;                 // "gptq", ...; empty: the weights are not quantized
  int64_t bits = 0;                   // for gptq and awq
  int64_t group_size = 0;             // for gptq and awq: inputs that share a scale; -1: all
  bool adds_one = false;              // gptq's first format, which stores zero points minus one
  std::vector<double> block;          // for fp8: rows and columns that share a scale; empty: all
  std::vector<WeightScheme> schemes;  // for compressed-tensors
  StoredActivations activations;
};

// Reads quantization_config, also if it is nested in text_config or has its older name.
absl::StatusOr<QuantizationConfig> ReadQuantization(const ConfigReader& config,
                                                    std::string_view model_type);

}  // namespace sinkd
