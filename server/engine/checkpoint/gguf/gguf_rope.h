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

// null where there is no scaling. `theta` is the rotary base, `head_size` the channels that rotate.
absl::StatusOr<nlohmann::json> GgufRopeScaling(const GgufFile& file,
                                               const std::string& architecture, double theta,
                                               int64_t head_size);

}  // namespace sinkd
