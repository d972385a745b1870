#include "server/engine/host_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <absl/strings/numbers.h>

namespace sinkd {
namespace {

// The number that a control group's file holds; empty for "max" and where there is none.
std::optional<int64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return std::nullopt;
  return number;
}

int64_t Available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kibibytes = 0;
  std::string rest;
  while (file >> key >> kibibytes && std::getline(file, rest)) {
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return 0;
}

// Page cache counts as used by a group, but gives way.
std::optional<int64_t> GroupRoom(const std::string& folder) {
  const std::optional<int64_t> limit = ReadNumber(folder + "/memory.max");
  const std::optional<int64_t> used = ReadNumber(folder + "/memory.current");
  if (!limit || !used) return std::nullopt;
  std::ifstream file(folder + "/memory.stat");
  std::string key;
  int64_t value = 0;
  int64_t cache = 0;
  while (file >> key >> value) {
    if (key == "inactive_file" || key == "active_file") cache += value;
  }
  return std::max<int64_t>(0, *limit - *used + cache);
}

// The process's control group (version 2); limits of the groups above it hold as well.
std::string OwnGroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "";
}

}  // namespace

int64_t FreeHostBytes() {
  int64_t free = Available();
  std::string group = OwnGroup();
  while (true) {
    const std::optional<int64_t> room = GroupRoom("/sys/fs/cgroup" + group);
    if (room) free = free == 0 ? *room : std::min(free, *room);
    if (group.empty() || group == "/") return free;
    group.resize(group.rfind('/'));
  }
}

}  // namespace sinkd
