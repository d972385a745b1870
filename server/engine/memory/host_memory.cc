#include "server/engine/memory/host_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "server/base/control_group.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

// The files of a control group, by version.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* inactive_cache;  // keys of memory.stat; of version 1, with the groups beneath
  const char* active_cache;
};

constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file"};

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
std::optional<int64_t> GroupRoom(const ControlGroup& group) {
  const GroupFiles& files = group.version == 1 ? kVersion1 : kVersion2;
  const fs::path& folder = group.folder;
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
  int64_t free = Available(root);
  for (const ControlGroup& group : ControlGroupsOf("memory", root)) {
    const std::optional<int64_t> room = GroupRoom(group);
    if (room) free = free == 0 ? *room : std::min(free, *room);
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
