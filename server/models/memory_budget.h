// MemoryBudget: what may be held on each device, and what is: weights of models, loads under way,
// forward passes. Every holder asks first, so that two at once cannot take the same room.
//
// Ownership: a hold gives back when it is destroyed, and may outlive the budget.
// Thread-safety: all methods may be called from any thread; a hold by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd {

using DeviceBytes = std::map<std::string, int64_t>;  // by device, "cpu", "cuda:0"

// One device, at one moment; bytes.
struct MemorySnapshot {
  std::string device;
  int64_t budget_bytes = 0;   // 0: the device does not say what it has, and nothing is refused
  int64_t weight_bytes = 0;   // of models in memory
  int64_t loading_bytes = 0;  // of loads under way
  int64_t running_bytes = 0;  // of forward passes under way
  int64_t free_bytes = 0;     // what the device has left; 0: it does not say
};

// What a load of `wanted` bytes lacks on the device, by its budget or by what is free; 0: it has
// room. Passes under way do not count, since a load waits for them.
int64_t MissingBytes(const MemorySnapshot& device, int64_t wanted);

class MemoryBudget {
 public:
  enum class Use { kWeights, kLoading, kRunning };

  // Part of the budget, in use until the hold is destroyed.
  class Hold {
   public:
    Hold() = default;  // of nothing
    Hold(Hold&&) = default;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { Release(); }

    void Become(Use use);  // the same bytes, for something else
    const DeviceBytes& bytes() const { return bytes_; }

   private:
    friend class MemoryBudget;
    struct State;
    Hold(std::shared_ptr<State> state, Use use, DeviceBytes bytes);
    void Release();
    std::shared_ptr<State> state_;
    Use use_ = Use::kWeights;
    DeviceBytes bytes_;
  };

  // `room` says what a device has free; an empty one is RoomOnDevice. The budget of a device that
  // `limits` does not name is nine tenths of that when the device is first asked for; the rest is
  // for what is not counted.
  explicit MemoryBudget(DeviceBytes limits = {},
                        std::function<int64_t(const std::string& device)> room = {});

  // Of the devices of `wanted`.
  std::map<std::string, MemorySnapshot> Look(const DeviceBytes& wanted) const;

  // For a load; nullopt when bytes are missing (MissingBytes). Passes that run are not waited for.
  std::optional<Hold> TryHold(const DeviceBytes& wanted);

  // Waits until no pass that runs takes of the room of `load`, which is held. False when `stop`
  // came first.
  bool WaitForRuns(const Hold& load, std::stop_token stop) const;

  // For a pass that takes `bytes` on each of `devices`, beside all else. RESOURCE_EXHAUSTED naming
  // what it takes, what there is and the ways out.
  absl::StatusOr<Hold> HoldRun(std::span<const std::string> devices, int64_t bytes);

  // Of all devices that were named or asked for, by name.
  std::vector<MemorySnapshot> Snapshot() const;

 private:
  const std::shared_ptr<Hold::State> state_;
};

}  // namespace sinkd
