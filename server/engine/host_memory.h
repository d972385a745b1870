// What memory the host still has.
#pragma once

#include <cstdint>

namespace sinkd {

// Bytes that can be had without swapping: MemAvailable, or what the process's control group still
// allows where that is less. 0 when neither is known. Thread-safe.
int64_t FreeHostBytes();

}  // namespace sinkd
