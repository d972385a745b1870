#include "server/engine/device_memory.h"

#include <absl/status/statusor.h>

#include "server/engine/memory/device.h"

namespace sinkd {

int64_t RoomOnDevice(const std::string& device) {
  const absl::StatusOr<at::Device> opened = OpenDevice(device);
  return opened.ok() ? FreeBytes(*opened) : 0;
}

}  // namespace sinkd
