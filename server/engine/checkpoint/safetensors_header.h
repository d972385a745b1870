// The JSON header of a safetensors file, parsed and checked.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

// The limit of tensors per file and per checkpoint. Published ones have up to 150,000.
inline constexpr size_t kMaxTensors = 300'000;

// `json` is the header's text, `data_begin` the file offset of the data, `file_bytes` the file's
// size. Offsets in the result are from the start of the file. CANCELLED once `stop` is set.
absl::StatusOr<TensorMap> ParseSafetensorsHeader(std::string_view file, std::string_view json,
                                                 int64_t data_begin, int64_t file_bytes,
                                                 std::stop_token stop = {});

}  // namespace sinkd
