// Devices by name, chosen at run time. Internal to the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <c10/core/Device.h>

namespace sinkd {

// The device `name` ("cpu", "cuda:0", any torch device string), tested by allocating one byte.
// libtorch's CUDA half is loaded on first use, and only if the machine has a driver, so that
// machines without one neither need it nor wait for it. Errors: INVALID_ARGUMENT for an invalid
// name and for a device that this machine does not have.
absl::StatusOr<at::Device> OpenDevice(const std::string& name);

// All GPUs, from "cuda:0"; empty on a machine without one.
std::vector<std::string> Gpus();

// Free bytes on `device`; for the host, within its control group's limit. 0 if the device does not
// report them.
int64_t FreeBytes(const at::Device& device);

}  // namespace sinkd
