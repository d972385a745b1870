// Quantized weights that cannot be read, known by config.json or, where that is silent, by the
// names of tensors and files.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION (QUANTIZED_WEIGHTS) naming the method
// and the fix.
#pragma once

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

#include "server/engine/families/config_reader.h"

namespace sinkd {

// Of the method or form `value` that `key` names.
absl::Status Unreadable(const ConfigReader& quantization, std::string_view key,
                        std::string_view value);

// By the name of the tensor `tensor` of `file`; OK for one that holds plain weights.
absl::Status RefuseQuantizedTensor(const std::filesystem::path& folder, std::string_view file,
                                   std::string_view tensor);

// By the files of a folder without weights of a known name.
absl::Status RefuseQuantizedFolder(const std::filesystem::path& folder);

}  // namespace sinkd
