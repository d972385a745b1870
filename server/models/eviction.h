// Which models have to go for another, and the error when none can.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
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

// Ids of the models whose memory makes up for what is `missing`: of those that can go, the least
// recently used first, none that would not help. nullopt: all of them would not be enough.
std::optional<std::vector<std::string>> ChooseVictims(std::vector<Resident> residents,
                                                      DeviceBytes missing);

// RESOURCE_EXHAUSTED naming what `id` wants, what is missing, and who holds the device.
absl::Status NoRoomToLoad(const std::string& id, const DeviceBytes& wanted,
                          const DeviceBytes& missing, const std::vector<Resident>& residents);

}  // namespace sinkd
