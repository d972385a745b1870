// Quantized checkpoints, which cannot be loaded, told by config.json or, where that is silent, by
// the names of tensors and files. gpt_oss's own MXFP4 is unpacked on load and is not one of them.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION naming the method and the way out.
#pragma once

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

#include "server/engine/families/config_reader.h"

namespace sinkd {

// By quantization_config, also where it is nested or has its older name.
absl::Status RefuseQuantizedConfig(const ConfigReader& config, std::string_view model_type);

// By the name of the tensor `tensor` of `file`; OK for one that holds plain weights.
absl::Status RefuseQuantizedTensor(const std::filesystem::path& folder, std::string_view file,
                                   std::string_view tensor);

// By the files of a folder without weights of a known name.
absl::Status RefuseQuantizedFolder(const std::filesystem::path& folder);

}  // namespace sinkd
