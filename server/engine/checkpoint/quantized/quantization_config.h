// What config.json says about quantized weights.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION naming the key: QUANTIZED_WEIGHTS
// where the method cannot be read, BAD_CONFIG where the key holds no such value.
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
  std::vector<double> block;  // of the strategy "block": rows and columns that share a scale
};

struct QuantizationConfig {
  std::string method;                 // "gptq", ...; empty: the weights are not quantized
  int64_t bits = 0;                   // of gptq and awq
  int64_t group_size = 0;             // of gptq and awq: inputs that share a scale; -1: all
  bool adds_one = false;              // gptq's first format, which stores zero points less one
  std::vector<double> block;          // of fp8: rows and columns that share a scale; empty: all
  std::vector<WeightScheme> schemes;  // of compressed-tensors
  StoredActivations activations;
};

// By quantization_config, also where it is nested in text_config or has its older name.
absl::StatusOr<QuantizationConfig> ReadQuantization(const ConfigReader& config,
                                                    std::string_view model_type);

}  // namespace sinkd
