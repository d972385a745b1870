#include "server/scheduler/device_pool.h"

#include <utility>

namespace sinkd {

DevicePool::DevicePool(Executor::Options options) : options_(std::move(options)) {}

Executor& DevicePool::For(std::string_view device) {
  const std::lock_guard lock(mutex_);
  auto found = executors_.find(device);
  if (found == executors_.end()) {
    Executor::Options options = options_;
    options.name = std::string(device);
    options.threads = 1;
    found = executors_.emplace(device, std::make_unique<Executor>(std::move(options))).first;
    if (closed_) found->second->Shutdown(Executor::ShutdownMode::kCancel);
  }
  return *found->second;
}

std::vector<ExecutorSnapshot> DevicePool::Snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExecutorSnapshot> snapshots;
  for (const auto& [device, executor] : executors_) snapshots.push_back(executor->Snapshot());
  return snapshots;
}

void DevicePool::Shutdown(Executor::ShutdownMode mode) {
  std::vector<Executor*> executors;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const auto& [device, executor] : executors_) executors.push_back(executor.get());
  }
  // Without the lock, because running jobs may still request a device.
  for (Executor* executor : executors) executor->Shutdown(mode);
}

}  // namespace sinkd
