// Recognizes unsupported quantized weights by config.json or, failing that, by the names of tensors
// and files.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION (QUANTIZED_WEIGHTS) naming the method
// and the fix.
#pragma once

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

#include "server/engine/families/config_reader.h"

namespace sinkd {

// The error for the method or form `value` of the key `key`.
absl::Status Unreadable(const ConfigReader& quantization, std::string_view key,
                        std::string_view value);

// Judges by the name of the tensor `tensor` of `file`; OK for plain weights.
absl::Status RefuseQuantizedTensor(const std::filesystem::path& folder, std::string_view file,
                                   std::string_view tensor);

// Judges by the files of a folder without weights of a known name.
absl::Status RefuseQuantizedFolder(const std::filesystem::path& folder);

}  // namespace sinkd
