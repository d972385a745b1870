// Control groups of this process, by which the system limits what it may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace sinkd {

struct ControlGroup {
  std::filesystem::path folder;  // of its files, which need not be there
  int version = 2;
};

// The groups that limit what `controller` ("memory", "cpu") hands out, each before the one above
// it. In a container a group's own files are often at the mount itself, whatever its name outside;
// the mount is the last. `root` is where /proc and /sys are. Thread-safe.
std::vector<ControlGroup> ControlGroupsOf(std::string_view controller,
                                          const std::filesystem::path& root = "/");

// The number that a file begins with; empty for "max" and where there is no file. Thread-safe.
std::optional<int64_t> ReadNumber(const std::filesystem::path& file);

// Cores that this process may keep busy: `allowed`, those it may run on, or what the CPU quota of
// its control groups comes to where that is less, rounded up. At least 1. Thread-safe.
int UsableCores(int allowed, const std::filesystem::path& root = "/");
int UsableCores();  // of those in its affinity mask

}  // namespace sinkd
