// The one place where torch's exceptions become statuses. Internal to the engine.
#pragma once

#include <functional>

#include <absl/status/status.h>

namespace sinkd {

// Runs `work`; out of memory gives RESOURCE_EXHAUSTED, any other exception INTERNAL, a failed
// device as DeviceFailed has it. At the end, memory that it left free goes back to the system.
absl::Status AtTorchBoundary(const std::function<absl::Status()>& work);

}  // namespace sinkd
