// DevicePool: the executor of each device, made when the device is first used.
//
// Ownership: owns its executors; a reference stays valid as long as the pool lives.
// Thread-safety: all methods may be called from any thread; Shutdown as Executor::Shutdown.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/scheduler/executor.h"

namespace sinkd {

class DevicePool {
 public:
  // Each device's executor has these options, one thread, and the device's name.
  explicit DevicePool(Executor::Options options);

  Executor& For(std::string_view device);

  // Of all devices, by name.
  std::vector<ExecutorSnapshot> Snapshot() const;

  // Shuts down all executors, and later ones as soon as they are made.
  void Shutdown(Executor::ShutdownMode mode);

 private:
  const Executor::Options options_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, std::unique_ptr<Executor>, std::less<>> executors_;
};

}  // namespace sinkd
