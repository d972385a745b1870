// MemoryBudget: the memory budget of each device and its use by weights, loads and forward passes.
// Memory is always reserved before it is used, so that no two users take the same bytes.
//
// Ownership: a hold returns its memory when destroyed, and may outlive the budget.
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

// One device at one moment, in bytes.
struct MemorySnapshot {
  std::string device;
  int64_t budget_bytes = 0;   // 0: the device's memory is unknown, and nothing is refused
  int64_t weight_bytes = 0;   // of models in memory
  int64_t loading_bytes = 0;  // of running loads
  int64_t running_bytes = 0;  // of running forward passes
  int64_t free_bytes = 0;     // free memory of the device; 0: unknown
};

// Bytes that a load of `wanted` bytes lacks on the device, in its budget or free memory; 0 if it
// fits. Running passes do not count, since a load waits for them.
int64_t MissingBytes(const MemorySnapshot& device, int64_t wanted);

class MemoryBudget {
 public:
  enum class Use { kWeights, kLoading, kRunning };

  // A reserved part of the budget, until the hold is destroyed.
  class Hold {
   public:
    Hold() = default;  // reserves nothing
    Hold(Hold&&) = default;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { Release(); }

    void Become(Use use);  // changes the use of the same bytes
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

  // `room` returns the free memory of a device; empty: RoomOnDevice. The budget of a device that
  // `limits` does not name is nine tenths of its free memory at the first use; the rest is for what
  // is not counted.
  explicit MemoryBudget(DeviceBytes limits = {},
                        std::function<int64_t(const std::string& device)> room = {});

  // The state of the devices in `wanted`.
  std::map<std::string, MemorySnapshot> Look(const DeviceBytes& wanted) const;

  // Reserves for a load, without waiting for passes; nullopt if bytes are missing (MissingBytes).
  std::optional<Hold> TryHold(const DeviceBytes& wanted);

  // Waits until no running pass uses memory that `load` has reserved. False if `stop` is triggered
  // first.
  bool WaitForRuns(const Hold& load, std::stop_token stop) const;

  // Reserves `bytes` on each of `devices` for a pass. RESOURCE_EXHAUSTED, naming what it needs,
  // what is available, and fixes.
  absl::StatusOr<Hold> HoldRun(std::span<const std::string> devices, int64_t bytes);

  // The state of all devices named or used so far, by name.
  std::vector<MemorySnapshot> Snapshot() const;

 private:
  const std::shared_ptr<Hold::State> state_;
};

}  // namespace sinkd
