// What memory the host still has, and what of it is not for passes.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sinkd {

// Bytes that can be had without swapping: MemAvailable, or what the process's control group and
// those above it still allow where that is less (version 2, or the memory controller of version 1).
// 0 when neither is known. `root` is where /proc and /sys are. Thread-safe.
int64_t FreeHostBytes(const std::filesystem::path& root = "/");

// What passes and loads leave of what the system gives: threads need stacks, new shapes need
// kernels, and libraries end the process when they are refused a small block.
inline constexpr int64_t kHostReserveBytes = int64_t{64} << 20;

// Whether the system would still give the reserve; addresses are asked for, no memory is taken.
// Always where it gives more than it has. Thread-safe.
bool HostReserveIsFree();

}  // namespace sinkd
