// Permanent device faults. After an illegal access, for example, every later call of this process
// to a CUDA device fails, and only a new process can use the device.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <functional>
#include <string>

#include <absl/status/status.h>

namespace sinkd {

// Sets the handler of such faults. It runs on the thread of each failing call. Empty: none.
void OnDeviceFault(std::function<void(const std::string& what)> handler);

// The INTERNAL error for a device call that failed with `what`. For a permanent fault the reason is
// DEVICE_FAULT, and the handler is called. Internal to the engine.
absl::Status DeviceFailed(const std::string& what);

// Replaces the check whether devices still work; empty: a small computation on each device. For
// tests.
void SetDeviceProbe(std::function<bool()> answers);

}  // namespace sinkd
