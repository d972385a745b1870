// FindRoom: whether a load has room, which models it would evict, and the error if that is not
// enough. Registry uses this one rule to refuse loads and to report that a plan does not fit.
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

// A model that holds memory or will soon hold it.
struct Resident {
  std::string id;
  std::string doing;  // another reason why it must stay, "being loaded"; empty: none
  bool pinned = false;
  int64_t users = 0;
  int64_t last_use = 0;  // later uses have larger numbers
  DeviceBytes bytes;

  bool CanGo() const { return doing.empty() && !pinned && users == 0; }
};

// One device of a load. Bytes.
struct DeviceBudget {
  MemorySnapshot now;         // before the load
  int64_t wanted_bytes = 0;   // for the weights
  int64_t pinned_bytes = 0;   // of pinned models
  int64_t evicted_bytes = 0;  // of models that the load would evict
  bool fits = true;

  // Whether a pass that takes `bytes` would have room once the model is loaded and nothing else
  // runs.
  bool HasRoomToRun(int64_t bytes) const;
};

struct LoadRoom {
  std::map<std::string, DeviceBudget> devices;  // by name
  // Ids of the models to evict: the least recently used that may be evicted first, and only models
  // that help. Empty if evicting all of them would not be enough.
  std::vector<std::string> victims;
  absl::Status refusal;  // RESOURCE_EXHAUSTED with what is missing and who holds it; OK: it fits
};

// For weights of `id` that need `wanted`, on devices in the state `now` (MemoryBudget::Look) with
// `residents`. A resident with the same id counts as unloaded.
LoadRoom FindRoom(const std::string& id, const DeviceBytes& wanted,
                  const std::map<std::string, MemorySnapshot>& now,
                  std::vector<Resident> residents);

}  // namespace sinkd
