// FindRoom: whether a load has room, which models would have to go for it, and the error when that
// is not enough. The one rule by which Registry refuses a load and says that a plan does not fit.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/models/memory_budget.h"

namespace sinkd {

// A model that holds memory, or is about to.
struct Resident {
  std::string id;
  std::string doing;  // what keeps it there besides users and pin, "being loaded"; empty: nothing
  bool pinned = false;
  int64_t users = 0;
  int64_t last_use = 0;  // later uses have larger numbers
  DeviceBytes bytes;

  bool CanGo() const { return doing.empty() && !pinned && users == 0; }
};

// One device of a load. Bytes.
struct DeviceBudget {
  MemorySnapshot now;         // before the load
  int64_t wanted_bytes = 0;   // by the weights
  int64_t pinned_bytes = 0;   // of models that are pinned
  int64_t evicted_bytes = 0;  // of models that would go for the load
  bool fits = true;

  // Whether a pass that takes `bytes` would have room once the model is loaded and nothing else
  // runs.
  bool HasRoomToRun(int64_t bytes) const;
};

struct LoadRoom {
  std::map<std::string, DeviceBudget> devices;  // by name
  // Ids of the models that would go: of those that can, the least recently used first, none that
  // would not help. Empty when all of them would not be enough.
  std::vector<std::string> victims;
  absl::Status refusal;  // RESOURCE_EXHAUSTED saying what is missing, and who holds it; OK: it fits
};

// For weights of `id` that take `wanted`, on devices as `now` (MemoryBudget::Look) beside
// `residents`. A resident of the same id counts as unloaded.
LoadRoom FindRoom(const std::string& id, const DeviceBytes& wanted,
                  const std::map<std::string, MemorySnapshot>& now,
                  std::vector<Resident> residents);

}  // namespace sinkd
