// LoadCheckpoint: the registry's loader for real folders - weights through the engine, text through
// the tokenizer.
#pragma once

#include <filesystem>
#include <stop_token>

#include <absl/status/statusor.h>

#include "server/models/registry.h"

namespace sinkd {

// Reads both halves of a checkpoint. A tokenizer that cannot be read is no error: the result then
// says why in tokenizer_problem, and token ids still work. Errors: those of Model::Load.
absl::StatusOr<LoadedModel> LoadCheckpoint(const std::filesystem::path& folder,
                                           const LoadOptions& options,
                                           const Registry::Progress& progress,
                                           std::stop_token stop);

}  // namespace sinkd
