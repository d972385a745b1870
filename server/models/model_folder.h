// Where a model's files are, beneath what an operator placed under the model root.
#pragma once

#include <filesystem>

namespace sinkd {

// `folder` itself or, where it is a model of a Hugging Face cache (snapshots/ beside refs/ and
// blobs/), its snapshot: the one that refs/main names, or the only one. All links are resolved, but
// those of single files, which may lie anywhere. A cache without such a snapshot stays `folder`, so
// that loading it says what is missing. Empty when there is no folder.
std::filesystem::path ModelFolder(const std::filesystem::path& folder);

}  // namespace sinkd
