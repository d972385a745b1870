#include "server/engine/device_fault.h"

#include <mutex>
#include <utility>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Functions.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

struct Hooks {
  std::mutex mutex;
  std::function<void(const std::string& what)> handler;
  std::function<bool()> answers;
};

Hooks& TheHooks() {
  static Hooks& hooks = *new Hooks;
  return hooks;
}

bool DevicesCompute() {
  try {
    const auto type = at::accelerator::getAccelerator();
    const c10::DeviceIndex count = type ? at::accelerator::deviceCount() : c10::DeviceIndex{0};
    for (c10::DeviceIndex i = 0; i < count; ++i) {
      if (at::ones({1}, at::Device(*type, i)).item<float>() != 1) return false;
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void OnDeviceFault(std::function<void(const std::string& what)> handler) {
  const std::lock_guard lock(TheHooks().mutex);
  TheHooks().handler = std::move(handler);
}

void SetDeviceProbe(std::function<bool()> answers) {
  const std::lock_guard lock(TheHooks().mutex);
  TheHooks().answers = std::move(answers);
}

absl::Status DeviceFailed(const std::string& what) {
  const std::lock_guard lock(TheHooks().mutex);
  const bool answers = TheHooks().answers ? TheHooks().answers() : DevicesCompute();
  if (answers) return Internal(StrCat("torch: ", Shorten(what, 300)));
  if (TheHooks().handler) TheHooks().handler(what);
  return MakeError(absl::StatusCode::kInternal,
                   StrCat("a device failed and answers no more: ", Shorten(what, 300)),
                   {.reason = "DEVICE_FAULT",
                    .subject = "device",
                    .fix = "try again on another server, or on this one after its restart"});
}

}  // namespace sinkd
