// The free memory of a device. No torch types.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace sinkd {

// Free bytes on `device` ("cpu", "cuda:0"); on the host, within the limit of its control group. 0
// if the device does not report it or does not exist.
int64_t RoomOnDevice(const std::string& device);

}  // namespace sinkd
