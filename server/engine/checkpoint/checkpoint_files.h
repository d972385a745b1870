// Problems with the files of a checkpoint folder that are found before anything is read.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION naming the file and the fix.
#pragma once

#include <filesystem>

#include <absl/status/status.h>

namespace sinkd {

// OK if the file exists or is missing. Fails for a dangling link, as in a Hugging Face cache
// without the blob, and for a Git LFS pointer instead of the file.
absl::Status CheckFile(const std::filesystem::path& path);

// Why a folder has no weights that can be loaded: what it has instead.
absl::Status ExplainNoWeights(const std::filesystem::path& folder);

// The same for a folder without config.json; OK if nothing else explains it.
absl::Status ExplainNoConfig(const std::filesystem::path& folder);

}  // namespace sinkd
