// Control groups of this process, with which the system limits its resources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace sinkd {

struct ControlGroup {
  std::filesystem::path folder;  // of its files, which may not exist
  int version = 2;
};

// The groups that limit `controller` ("memory", "cpu"), each before its parent. In a container, the
// files of a group are often at the mount itself, whatever its name is outside, so the mount is the
// last one. `root` is the folder of /proc and /sys. Thread-safe.
std::vector<ControlGroup> ControlGroupsOf(std::string_view controller,
                                          const std::filesystem::path& root = "/");

// The number at the beginning of a file; empty for "max" or if the file is missing. Thread-safe.
std::optional<int64_t> ReadNumber(const std::filesystem::path& file);

// Cores that this process may keep busy: `allowed`, the cores it may run on, or the CPU quota of
// its control groups, rounded up, if that is less. At least 1. Thread-safe.
int UsableCores(int allowed, const std::filesystem::path& root = "/");
int UsableCores();  // with the cores of its affinity mask as `allowed`

}  // namespace sinkd
