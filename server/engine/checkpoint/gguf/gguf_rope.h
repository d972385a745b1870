// The rotary scaling a GGUF file describes, as config.json's rope_scaling.
//
// Thread-safety: pure. Errors: FAILED_PRECONDITION naming the key, or the tensor rope_freqs.weight.
#pragma once

#include <string>

#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

#include "server/engine/checkpoint/gguf/gguf_file.h"

namespace sinkd {

// The tensor in which converters put the factors of the llama3 scaling, one for each pair.
constexpr char kRopeFactors[] = "rope_freqs.weight";

// Of phi3's scaling, for samples within the context in training and for longer ones.
constexpr char kShortFactors[] = "rope_factors_short.weight";
constexpr char kLongFactors[] = "rope_factors_long.weight";
// null where there is no scaling. `theta` is the rotary base, `head_size` the channels that rotate.
absl::StatusOr<nlohmann::json> GgufRopeScaling(const GgufFile& file,
                                               const std::string& architecture, double theta,
                                               int64_t head_size);

}  // namespace sinkd
