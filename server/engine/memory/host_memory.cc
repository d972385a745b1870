#include "server/engine/memory/host_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

namespace sinkd {
namespace {

namespace fs = std::filesystem;

// The files of a control group, by version.
struct GroupFiles {
  fs::path mount;
  const char* limit;
  const char* used;
  const char* inactive_cache;  // keys of memory.stat; of version 1, with the groups beneath
  const char* active_cache;
};

// The number that a control group's file holds; empty for "max" and where there is none.
std::optional<int64_t> ReadNumber(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return std::nullopt;
  return number;
}

int64_t Available(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  int64_t kibibytes = 0;
  std::string rest;
  while (file >> key >> kibibytes && std::getline(file, rest)) {
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return 0;
}

// Page cache counts as used by a group, but gives way. Version 1 writes a huge number for no limit,
// which leaves more than the host has.
std::optional<int64_t> GroupRoom(const GroupFiles& files, const fs::path& folder) {
  const std::optional<int64_t> limit = ReadNumber(folder / files.limit);
  const std::optional<int64_t> used = ReadNumber(folder / files.used);
  if (!limit || !used) return std::nullopt;
  std::ifstream file(folder / "memory.stat");
  std::string key;
  int64_t value = 0;
  int64_t cache = 0;
  while (file >> key >> value) {
    if (key == files.inactive_cache || key == files.active_cache) cache += value;
  }
  return std::max<int64_t>(0, *limit - *used + cache);
}

// The least room of `group` and the groups above it, or `free` where that is less. In a container
// the group's own files are often at the mount itself, whatever its name outside.
int64_t LeastRoom(const GroupFiles& files, std::string group, int64_t free) {
  while (true) {
    const std::optional<int64_t> room =
        GroupRoom(files, files.mount / group.substr(group.empty() ? 0 : 1));
    if (room) free = free == 0 ? *room : std::min(free, *room);
    if (group.empty() || group == "/") return free;
    group.resize(group.rfind('/'));
  }
}

bool IsUnlimited(decltype(RLIMIT_AS) resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

// Then pages that are asked for are always given, and counted once they are used.
bool GivesMoreThanItHas() {
  constexpr int kNever = 2;
  static const bool overcommits =
      ReadNumber("/proc/sys/vm/overcommit_memory").value_or(kNever) != kNever;
  return overcommits && IsUnlimited(RLIMIT_AS) && IsUnlimited(RLIMIT_DATA);
}

}  // namespace

int64_t FreeHostBytes(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  const GroupFiles v2{mount, "memory.max", "memory.current", "inactive_file", "active_file"};
  const GroupFiles v1{mount / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                      "total_inactive_file", "total_active_file"};
  int64_t free = Available(root);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:group
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool memory =
        std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    if (parts[0] == "0" && parts[1].empty()) free = LeastRoom(v2, parts[2], free);
    if (memory) free = LeastRoom(v1, parts[2], free);
  }
  return free;
}

bool HostReserveIsFree() {
  if (GivesMoreThanItHas()) return true;
  void* const reserve =
      mmap(nullptr, kHostReserveBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserve == MAP_FAILED) return false;
  munmap(reserve, kHostReserveBytes);
  return true;
}

}  // namespace sinkd
