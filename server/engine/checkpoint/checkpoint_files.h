// What goes wrong with the files of a checkpoint folder before anything is read from them.
//
// Thread-safety: pure functions. Errors: FAILED_PRECONDITION naming the file and the way out.
#pragma once

#include <filesystem>

#include <absl/status/status.h>

namespace sinkd {

// OK for a file that is there, and for one that is not. Fails for a link to what is missing, as a
// Hugging Face cache without the blob has it, and for a Git LFS pointer in the file's place.
absl::Status CheckFile(const std::filesystem::path& path);

// Why a folder holds no weights of a name that is loaded: what is there instead.
absl::Status ExplainNoWeights(const std::filesystem::path& folder);

// The same for a folder without config.json; OK where nothing stands in its place.
absl::Status ExplainNoConfig(const std::filesystem::path& folder);

}  // namespace sinkd
