// A fault of a device that lasts: after an illegal access, say, every later call of this process to
// a CUDA device fails too, and only a new process helps.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <functional>
#include <string>

#include <absl/status/status.h>

namespace sinkd {

// Called for every call that meets such a fault, on its thread. Empty: nobody is told.
void OnDeviceFault(std::function<void(const std::string& what)> handler);

// The error of a call to a device that failed with `what`, INTERNAL: DEVICE_FAULT where the fault
// lasts, which the handler is told. Internal to the engine.
absl::Status DeviceFailed(const std::string& what);

// How it is found out whether devices still answer; empty: by a small computation on each. For
// tests.
void SetDeviceProbe(std::function<bool()> answers);

}  // namespace sinkd
