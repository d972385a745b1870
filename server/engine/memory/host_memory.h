// The free memory of the host, and the reserve that passes must leave.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sinkd {

// Bytes available without swapping: MemAvailable, or what the process's control group and its
// parents still allow if that is less (version 2, or the memory controller of version 1).
// 0 if neither is known. `root` is the folder of /proc and /sys. Thread-safe.
int64_t FreeHostBytes(const std::filesystem::path& root = "/");

// The memory that passes and loads leave free: threads need stacks, new shapes need kernels, and
// libraries end the process if a small allocation fails.
inline constexpr int64_t kHostReserveBytes = int64_t{64} << 20;

// Whether the system would still grant the reserve; reserves addresses, uses no memory. Always true
// if the system overcommits. Thread-safe.
bool HostReserveIsFree();

}  // namespace sinkd
