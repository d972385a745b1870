// LoadCheckpoint: the registry's loader of folders. The engine reads weights, the tokenizer reads
// text.
#pragma once

#include <filesystem>
#include <stop_token>

#include <absl/status/statusor.h>

#include "server/models/registry.h"

namespace sinkd {

// Reads weights and tokenizer of a checkpoint. An unreadable tokenizer is not an error: the result
// gives the reason in tokenizer_problem, and token ids work. Errors: those of Model::Load.
absl::StatusOr<LoadedModel> LoadCheckpoint(const std::filesystem::path& folder,
                                           const LoadOptions& options,
                                           const Registry::Progress& progress,
                                           std::stop_token stop);

}  // namespace sinkd
