// What memory the host still has.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sinkd {

// Bytes that can be had without swapping: MemAvailable, or what the process's control group and
// those above it still allow where that is less (version 2, or the memory controller of version 1).
// 0 when neither is known. `root` is where /proc and /sys are. Thread-safe.
int64_t FreeHostBytes(const std::filesystem::path& root = "/");

}  // namespace sinkd
