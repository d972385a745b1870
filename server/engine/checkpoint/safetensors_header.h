// The JSON header of a safetensors file, parsed and checked.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

// `json` is the header's text, `data_begin` the file offset of the data, `file_bytes` the file's
// size. Offsets of the result count from the start of the file.
absl::StatusOr<TensorMap> ParseSafetensorsHeader(std::string_view file, std::string_view json,
                                                 int64_t data_begin, int64_t file_bytes);

}  // namespace sinkd
