// What memory a device has, without a torch type in sight.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace sinkd {

// Bytes that can still be had on `device` ("cpu", "cuda:0"), of the host within its control group's
// limit. 0 when the device does not say, or is not there.
int64_t RoomOnDevice(const std::string& device);

}  // namespace sinkd
