#include "server/models/memory_budget.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/engine/device_memory.h"
#include "server/models/memory_text.h"

namespace sinkd {

struct MemoryBudget::Hold::State {
  std::function<int64_t(const std::string& device)> room;
  mutable std::mutex mutex;
  mutable std::condition_variable_any released;
  std::map<std::string, MemorySnapshot, std::less<>> devices;

  // Under the lock.
  MemorySnapshot& Of(const std::string& device) {
    const auto [found, is_new] = devices.try_emplace(device);
    if (is_new) {
      found->second.device = device;
      found->second.budget_bytes = room(device) / 10 * 9;
    }
    return found->second;
  }

  MemorySnapshot Look(const std::string& device) {
    MemorySnapshot now = Of(device);
    now.free_bytes = room(device);
    return now;
  }

  void Add(Use use, const DeviceBytes& bytes, int sign) {
    for (const auto& [device, amount] : bytes) {
      MemorySnapshot& of = Of(device);
      int64_t& held = use == Use::kWeights   ? of.weight_bytes
                      : use == Use::kLoading ? of.loading_bytes
                                             : of.running_bytes;
      held += sign * amount;
    }
  }
};

namespace {

// Beside weights, loads and passes; a device without a budget has all the room there is.
int64_t RoomBesideAll(const MemorySnapshot& device) {
  if (device.budget_bytes == 0) return std::numeric_limits<int64_t>::max();
  return device.budget_bytes - device.weight_bytes - device.loading_bytes - device.running_bytes;
}

absl::Status NoRoomToRun(const MemorySnapshot& device, int64_t bytes, int64_t room) {
  return ResourceExhausted(
      fmt::format("a forward pass would take {}, and {} of the {} that {} may hold are left",
                  BytesText(bytes), BytesText(std::max<int64_t>(0, room)),
                  BytesText(device.budget_bytes), device.device),
      {.reason = "MEMORY_BUDGET",
       .subject = device.device,
       .value = BytesText(bytes),
       .fix = "send a shorter sample, unload a model, load this one in bfloat16 or with residency "
              "streamed, or raise --memory-budget"});
}

}  // namespace

int64_t MissingBytes(const MemorySnapshot& device, int64_t wanted) {
  int64_t missing = 0;
  if (device.budget_bytes > 0) {
    missing = wanted - (device.budget_bytes - device.weight_bytes - device.loading_bytes);
  }
  if (device.free_bytes > 0) {
    missing = std::max(missing, wanted - (device.free_bytes + device.running_bytes));
  }
  return std::max<int64_t>(0, missing);
}

MemoryBudget::Hold::Hold(std::shared_ptr<State> state, Use use, DeviceBytes bytes)
    : state_(std::move(state)), use_(use), bytes_(std::move(bytes)) {}

MemoryBudget::Hold& MemoryBudget::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  Release();
  state_ = std::move(other.state_);
  use_ = other.use_;
  bytes_ = std::move(other.bytes_);
  return *this;
}

void MemoryBudget::Hold::Become(Use use) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->Add(use_, bytes_, -1);
  state_->Add(use, bytes_, 1);
  use_ = use;
}

void MemoryBudget::Hold::Release() {
  const std::shared_ptr<State> state = std::exchange(state_, nullptr);
  if (!state) return;
  {
    const std::lock_guard lock(state->mutex);
    state->Add(use_, bytes_, -1);
  }
  state->released.notify_all();
}

MemoryBudget::MemoryBudget(DeviceBytes limits,
                           std::function<int64_t(const std::string& device)> room)
    : state_(std::make_shared<Hold::State>()) {
  state_->room = room ? std::move(room) : RoomOnDevice;
  for (const auto& [device, bytes] : limits) {
    state_->devices[device] = {.device = device, .budget_bytes = bytes};
  }
}

std::map<std::string, MemorySnapshot> MemoryBudget::Look(const DeviceBytes& wanted) const {
  std::map<std::string, MemorySnapshot> now;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [device, bytes] : wanted) now[device] = state_->Look(device);
  return now;
}

std::optional<MemoryBudget::Hold> MemoryBudget::TryHold(const DeviceBytes& wanted) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [device, bytes] : wanted) {
    if (MissingBytes(state_->Look(device), bytes) > 0) return std::nullopt;
  }
  state_->Add(Use::kLoading, wanted, 1);
  return Hold(state_, Use::kLoading, wanted);
}

bool MemoryBudget::WaitForRuns(const Hold& load, std::stop_token stop) const {
  std::unique_lock lock(state_->mutex);
  return state_->released.wait(lock, std::move(stop), [&] {
    return std::all_of(load.bytes_.begin(), load.bytes_.end(), [&](const auto& share) {
      const MemorySnapshot device = state_->Look(share.first);
      const bool is_free = device.free_bytes == 0 || share.second <= device.free_bytes;
      return device.running_bytes == 0 || (RoomBesideAll(device) >= 0 && is_free);
    });
  });
}

absl::StatusOr<MemoryBudget::Hold> MemoryBudget::HoldRun(std::span<const std::string> devices,
                                                         int64_t bytes) {
  DeviceBytes shares;
  const std::lock_guard lock(state_->mutex);
  for (const std::string& device : devices) {
    const MemorySnapshot& of = state_->Of(device);
    if (bytes > RoomBesideAll(of)) return NoRoomToRun(of, bytes, RoomBesideAll(of));
    shares[device] = bytes;
  }
  state_->Add(Use::kRunning, shares, 1);
  return Hold(state_, Use::kRunning, std::move(shares));
}

std::vector<MemorySnapshot> MemoryBudget::Snapshot() const {
  std::vector<MemorySnapshot> all;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, device] : state_->devices) all.push_back(state_->Look(name));
  return all;
}

}  // namespace sinkd
