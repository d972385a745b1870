// Which GGUF file a folder's model is, where it is one.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION, reason GGUF_FILES, naming the files.
#pragma once

#include <filesystem>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_names.h"

namespace sinkd {

// The folder's *.gguf file; empty where there is none, or where safetensors weights stand beside it
// and are what is loaded. Several files, and one part of a split model, are errors.
absl::StatusOr<std::filesystem::path> FindGguf(const std::filesystem::path& folder);

// The row of GgufArchitectures that the file names. Errors: an architecture that is not known (the
// message lists those that are), a mixture of experts, attention in both directions, a file that is
// a part of a split model.
absl::StatusOr<GgufArchitecture> ArchitectureOf(const GgufFile& file);

}  // namespace sinkd
