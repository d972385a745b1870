#include "server/models/model_folder.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace sinkd {
namespace {

namespace fs = std::filesystem;

fs::path Resolve(const fs::path& folder) {
  std::error_code error;
  fs::path resolved = fs::canonical(folder, error);
  return !error && fs::is_directory(resolved, error) ? resolved : fs::path();
}

// The commit in refs/main; empty if it is not a valid folder name.
std::string MainCommit(const fs::path& folder) {
  constexpr size_t kMaxName = 128;
  std::error_code error;
  const fs::path ref = folder / "refs" / "main";
  if (!fs::is_regular_file(ref, error)) return "";
  std::string commit(kMaxName, '\0');
  std::ifstream stream(ref, std::ios::binary);
  stream.read(commit.data(), kMaxName);
  commit.resize(static_cast<size_t>(stream.gcount()));
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  const bool is_name = std::all_of(commit.begin(), commit.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return is_name ? commit : "";
}

fs::path OnlyFolderIn(const fs::path& parent) {
  fs::path only;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!only.empty()) return {};
    only = entry->path();
  }
  return only;
}

}  // namespace

fs::path ModelFolder(const fs::path& folder) {
  const fs::path resolved = Resolve(folder);
  std::error_code error;
  const fs::path snapshots = resolved / "snapshots";
  if (resolved.empty() || fs::exists(resolved / "config.json", error) ||
      !fs::is_directory(snapshots, error)) {
    return resolved;
  }
  const std::string commit = MainCommit(resolved);
  const fs::path snapshot = Resolve(commit.empty() ? OnlyFolderIn(snapshots) : snapshots / commit);
  return snapshot.empty() ? resolved : snapshot;
}

}  // namespace sinkd
