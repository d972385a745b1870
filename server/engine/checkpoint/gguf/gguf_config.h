// A GGUF file's metadata as the config.json that a Hugging Face checkpoint of the same model has,
// so that the families stay the one place of rules.
//
// Thread-safety: pure. Errors: FAILED_PRECONDITION naming file and key.
#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_file.h"

namespace sinkd {

// JSON text.
absl::StatusOr<std::string> GgufConfig(const GgufFile& file);

}  // namespace sinkd
