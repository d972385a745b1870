// The folder of a model's files, below what an operator placed under the model root.
//
// A model of a Hugging Face cache is a folder `models--ORG--NAME` of snapshots/COMMIT, whose files
// are links to blobs/, and refs/REVISION, files that hold a commit
// (https://huggingface.co/docs/huggingface_hub/guides/manage-cache). Its name is "org--name", in
// lower case, or that of the operator's link to it. NAME@REVISION is the snapshot of the branch,
// tag or commit REVISION, NAME that of main, or the only one. Nothing is copied. Thread-safety:
// pure functions of the file system.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

// The folder of the files of model `id`, which is a model id, with all links resolved except those
// of single files. Empty if there is none. For a model of a cache without the snapshot of main, the
// folder of the cache, so that loading it says what is missing.
// Errors: FAILED_PRECONDITION LINK_OUTSIDE for a snapshot of which a link leads anywhere but to the
// blobs beside it; links of other folders may lead anywhere.
absl::StatusOr<std::filesystem::path> FindModelFolder(const std::filesystem::path& root,
                                                      std::string_view id);

// The name in ids of a folder of the model root; empty if it can have none.
std::string FolderNameFor(const std::filesystem::path& folder);

// The ids that `folder`, whose name in ids is `name`, stands for: the name, and the name at each
// revision whose snapshot is there, commits only where no other name leads to them.
std::vector<std::string> IdsOf(const std::string& name, const std::filesystem::path& folder);

}  // namespace sinkd
