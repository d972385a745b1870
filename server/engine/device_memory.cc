#include "server/engine/device_memory.h"

#include <malloc.h>

#include <absl/status/statusor.h>

#include "server/engine/device.h"

namespace sinkd {

int64_t RoomOnDevice(const std::string& device) {
  const absl::StatusOr<at::Device> opened = OpenDevice(device);
  return opened.ok() ? FreeBytes(*opened) : 0;
}

void TuneAllocator() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace sinkd
