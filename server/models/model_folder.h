// The folder of a model's files, below what an operator placed under the model root.
#pragma once

#include <filesystem>

namespace sinkd {

// `folder` itself or, if it is a model of a Hugging Face cache (snapshots/ next to refs/ and
// blobs/), its snapshot: the one that refs/main names, or the only one. Resolves all links, except
// those of single files, which may be anywhere. For a cache without such a snapshot, returns
// `folder`, so that loading it says what is missing. Empty if there is no folder.
std::filesystem::path ModelFolder(const std::filesystem::path& folder);

}  // namespace sinkd
