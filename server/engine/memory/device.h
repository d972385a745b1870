// Devices by name, chosen at run time. Internal to the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <c10/core/Device.h>

namespace sinkd {

// The device `name` ("cpu", "cuda:0", any torch device string), tried with one byte. libtorch's
// CUDA half is brought in on first use, and only where the machine has a driver for it, so that a
// machine without one neither needs nor waits for it. Errors: INVALID_ARGUMENT for a name that is
// none, or a device that is not here.
absl::StatusOr<at::Device> OpenDevice(const std::string& name);

// All GPUs, "cuda:0" and on; empty on a machine without one.
std::vector<std::string> Gpus();

// Bytes that can still be had on `device`, of the host within its control group's limit; 0 when the
// device does not say.
int64_t FreeBytes(const at::Device& device);

}  // namespace sinkd
