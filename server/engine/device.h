// Devices by name, chosen at run time. Internal to the engine.
#pragma once

#include <string>

#include <absl/status/statusor.h>
#include <c10/core/Device.h>

namespace sinkd {

// The device `name` ("cpu", "cuda:0", any torch device string), tried with one byte. libtorch's
// CUDA half is brought in on first use, and only where the machine has a driver for it, so that a
// machine without one neither needs nor waits for it. Errors: INVALID_ARGUMENT for a name that is
// none, or a device that is not here.
absl::StatusOr<at::Device> OpenDevice(const std::string& name);

}  // namespace sinkd
