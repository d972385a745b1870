#include "server/models/model_folder.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <absl/strings/ascii.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/models/model_id.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCachePrefix = "models--";
constexpr char kMain[] = "main";

fs::path Resolve(const fs::path& folder) {
  std::error_code error;
  fs::path resolved = fs::canonical(folder, error);
  return !error && fs::is_directory(resolved, error) ? resolved : fs::path();
}

// Folders of a checkpoint itself have a config.json.
bool IsOfCache(const fs::path& folder) {
  std::error_code error;
  return !fs::exists(folder / "config.json", error) &&
         fs::is_directory(folder / "snapshots", error);
}

// The commit that a reference holds; empty if it is not a valid folder name.
std::string CommitOf(const fs::path& reference) {
  constexpr size_t kMaxName = 128;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(reference, error))) return "";
  std::string commit(kMaxName, '\0');
  std::ifstream stream(reference, std::ios::binary);
  stream.read(commit.data(), kMaxName);
  commit.resize(static_cast<size_t>(stream.gcount()));
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  const bool is_name = std::all_of(commit.begin(), commit.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
  return is_name ? commit : "";
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The name in snapshots/ that a revision stands for, which may not be there; "": none.
std::string SnapshotName(const fs::path& cache, std::string_view revision) {
  const std::string commit =
      CommitOf(cache / "refs" / (revision.empty() ? std::string_view(kMain) : revision));
  if (!commit.empty()) return commit;
  if (!revision.empty()) return std::string(revision);
  const std::vector<std::string> names = NamesIn(cache / "snapshots");
  return names.size() == 1 ? names.front() : "";
}

absl::Status Outside(const std::string& what, const fs::path& target) {
  return FailedPrecondition(
      StrCat(what, " is a link that leaves the blobs of its model"),
      {.reason = "LINK_OUTSIDE",
       .subject = what,
       .value = Shorten(target.string()),
       .fix = "fetch the model again: links of a snapshot may only lead to the blobs beside it"});
}

// Links that lead nowhere are left to loading, which names them.
absl::Status CheckLinks(const fs::path& snapshot) {
  const fs::path blobs = snapshot.parent_path().parent_path() / "blobs";
  std::error_code error;
  for (fs::recursive_directory_iterator entry(snapshot, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    if (!entry->is_symlink(unreadable)) continue;
    const fs::path target = fs::canonical(entry->path(), unreadable);
    if (unreadable) continue;
    const auto [rest, ignored] =
        std::mismatch(blobs.begin(), blobs.end(), target.begin(), target.end());
    if (rest != blobs.end()) return Outside(entry->path().filename().string(), target);
  }
  return absl::OkStatus();
}

bool IsSnapshot(const fs::path& folder) {
  std::error_code error;
  const fs::path parent = folder.parent_path();
  return parent.filename() == "snapshots" &&
         fs::is_directory(parent.parent_path() / "blobs", error);
}

// The snapshot of a cache, or the cache if that of main is missing.
absl::StatusOr<fs::path> SnapshotOf(const fs::path& cache, std::string_view revision) {
  const fs::path missing = revision.empty() ? cache : fs::path();
  const std::string name = SnapshotName(cache, revision);
  if (name.empty()) return missing;
  const fs::path snapshot = cache / "snapshots" / name;
  const fs::path resolved = Resolve(snapshot);
  if (resolved.empty()) return missing;
  if (resolved != snapshot) return Outside(StrCat("snapshots/", name), resolved);
  return resolved;
}

// The folder of the root with this name in ids.
fs::path FolderNamed(const fs::path& root, std::string_view name) {
  const fs::path folder = Resolve(root / fs::path(name));
  if (!folder.empty()) return folder;
  for (const std::string& each : NamesIn(root)) {
    if (each.starts_with(kCachePrefix) && FolderNameFor(root / each) == name) {
      return Resolve(root / each);
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<fs::path> FindModelFolder(const fs::path& root, std::string_view id) {
  const ModelIdParts parts = SplitModelId(id);
  fs::path folder = FolderNamed(root, parts.name);
  if (folder.empty()) return folder;
  if (IsOfCache(folder)) {
    SINKD_ASSIGN_OR_RETURN(folder, SnapshotOf(folder, parts.revision));
  } else if (!parts.revision.empty()) {
    return fs::path();
  }
  if (IsSnapshot(folder)) SINKD_RETURN_IF_ERROR(CheckLinks(folder));
  return folder;
}

std::string FolderNameFor(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name.starts_with(kCachePrefix) && IsOfCache(folder)) {
    std::string id = absl::AsciiStrToLower(name.substr(kCachePrefix.size()));
    if (IsModelFolderName(id)) return id;
  }
  return IsModelFolderName(name) ? name : "";
}

std::vector<std::string> IdsOf(const std::string& name, const fs::path& folder) {
  const fs::path cache = Resolve(folder);
  if (!IsOfCache(cache)) return {name};
  std::vector<std::string> ids;
  std::set<std::string> named = {SnapshotName(cache, "")};
  const auto is_there = [&cache](const std::string& commit) {
    return !commit.empty() && !Resolve(cache / "snapshots" / commit).empty();
  };
  const auto add = [&](const std::string& revision) {
    if (IsRevision(revision)) ids.push_back(StrCat(name, "@", revision));
  };
  if (is_there(*named.begin())) ids.push_back(name);
  for (const std::string& revision : NamesIn(cache / "refs")) {
    const std::string commit = CommitOf(cache / "refs" / revision);
    if (revision == kMain || !is_there(commit)) continue;
    named.insert(commit);
    add(revision);
  }
  for (const std::string& commit : NamesIn(cache / "snapshots")) {
    if (!named.contains(commit)) add(commit);
  }
  if (ids.empty()) ids.push_back(name);  // its failure says what is missing
  return ids;
}

}  // namespace sinkd
