#include "server/engine/forward/torch_boundary.h"

#include <new>

#include <absl/strings/match.h>
#include <c10/util/Exception.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/activation_memory.h"
#include "server/engine/device_fault.h"
#include "server/engine/memory/host_memory.h"

namespace sinkd {
namespace {

absl::Status OutOfMemory() {
  return ResourceExhausted("the device is out of memory",
                           {.reason = "DEVICE_OUT_OF_MEMORY",
                            .subject = "device memory",
                            .fix = "unload a model, or send shorter samples",
                            .retry_after = std::chrono::seconds(5)});
}

struct TrimAtEnd {
  ~TrimAtEnd() { TrimActivations(kKeptActivationBytes); }
};

}  // namespace

absl::Status AtTorchBoundary(const std::function<absl::Status()>& work) {
  const TrimAtEnd trim;
  if (!HostReserveIsFree()) {
    TrimActivations();
    if (!HostReserveIsFree()) return OutOfMemory();
  }
  try {
    return work();
  } catch (const c10::OutOfMemoryError&) {
    return OutOfMemory();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const c10::AcceleratorError& error) {
    return DeviceFailed(error.what_without_backtrace());
  } catch (const c10::Error& error) {
    // The CPU allocator reports exhaustion as a plain error.
    const std::string what = error.what_without_backtrace();
    if (absl::StrContains(what, "not enough memory") || absl::StrContains(what, "can't allocate")) {
      return OutOfMemory();
    }
    return Internal(StrCat("torch: ", Shorten(what, 300)));
  } catch (const std::exception& error) {
    return Internal(StrCat("torch: ", Shorten(error.what(), 300)));
  }
}

}  // namespace sinkd
