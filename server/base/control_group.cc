#include "server/base/control_group.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

namespace sinkd {
namespace {

namespace fs = std::filesystem;

void AddWithThoseAbove(const fs::path& mount, std::string group, int version,
                       std::vector<ControlGroup>& out) {
  while (group.size() > 1) {
    out.push_back({mount / group.substr(1), version});
    group.resize(group.rfind('/'));
  }
  out.push_back({mount, version});
}

// CPU time over time that has passed.
std::optional<double> Quota(const ControlGroup& group) {
  std::optional<int64_t> quota, period;
  if (group.version == 1) {
    quota = ReadNumber(group.folder / "cpu.cfs_quota_us");  // -1: no limit
    period = ReadNumber(group.folder / "cpu.cfs_period_us");
  } else {
    std::ifstream file(group.folder / "cpu.max");  // "200000 100000", "max 100000"
    std::string limit, of;
    int64_t number = 0;
    if (file >> limit >> of && absl::SimpleAtoi(limit, &number)) quota = number;
    if (absl::SimpleAtoi(of, &number)) period = number;
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::vector<ControlGroup> ControlGroupsOf(std::string_view controller, const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::vector<ControlGroup> found;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:group
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    if (parts[0] == "0" && parts[1].empty()) AddWithThoseAbove(mount, parts[2], 2, found);
    if (std::find(controllers.begin(), controllers.end(), controller) != controllers.end()) {
      AddWithThoseAbove(mount / controller, parts[2], 1, found);
    }
  }
  return found;
}

std::optional<int64_t> ReadNumber(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return std::nullopt;
  return number;
}

int UsableCores(int allowed, const fs::path& root) {
  double cores = allowed;
  for (const ControlGroup& group : ControlGroupsOf("cpu", root)) {
    cores = std::min(cores, Quota(group).value_or(cores));
  }
  return std::max(1, static_cast<int>(std::ceil(cores)));
}

int UsableCores() {
  // The mask of a machine with more cores than the set has room for is refused.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return UsableCores(CPU_COUNT(&allowed));
  return UsableCores(static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace sinkd
