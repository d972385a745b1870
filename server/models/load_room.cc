#include "server/models/load_room.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/models/memory_text.h"

namespace sinkd {
namespace {

int64_t BytesOn(const Resident& resident, const std::string& device) {
  const auto share = resident.bytes.find(device);
  return share == resident.bytes.end() ? 0 : share->second;
}

std::string Keeps(const Resident& resident) {
  std::string why = resident.doing;
  const auto add = [&why](const std::string& more) { why += (why.empty() ? "" : ", ") + more; };
  if (resident.pinned) add("pinned");
  if (resident.users > 0) add(fmt::format("in use by {}", resident.users));
  if (why.empty()) add("idle");
  return why;
}

// Chooses of `residents`, the least recently used first, and takes what they hold off `missing`.
std::vector<const Resident*> ChooseVictims(const std::vector<Resident>& residents,
                                           DeviceBytes& missing) {
  std::vector<const Resident*> victims;
  for (const Resident& resident : residents) {
    if (missing.empty()) break;
    if (!resident.CanGo()) continue;
    bool helps = false;
    for (const auto& [device, bytes] : resident.bytes) {
      const auto lacking = missing.find(device);
      if (lacking == missing.end() || bytes == 0) continue;
      helps = true;
      lacking->second -= bytes;
      if (lacking->second <= 0) missing.erase(lacking);
    }
    if (helps) victims.push_back(&resident);
  }
  return victims;
}

absl::Status NoRoomToLoad(const std::string& id, const DeviceBudget& room,
                          const std::vector<Resident>& residents) {
  const MemorySnapshot& now = room.now;
  std::string holders;
  bool may_pass = false;  // waiting can help
  for (const Resident& resident : residents) {
    const int64_t bytes = BytesOn(resident, now.device);
    if (bytes == 0) continue;
    holders += fmt::format("{}models/{} ({}, {})", holders.empty() ? "; held by " : ", ",
                           resident.id, BytesText(bytes), Keeps(resident));
    may_pass = may_pass || !resident.pinned;
  }
  MemorySnapshot beside_budget = now;
  beside_budget.free_bytes = 0;
  const int64_t over_budget = MissingBytes(beside_budget, room.wanted_bytes);
  const bool is_over = over_budget > 0;
  ErrorDetail detail{
      .reason = is_over ? "MEMORY_BUDGET" : "MODEL_TOO_LARGE",
      .subject = now.device,
      .value = fmt::format("models/{}", id),
      .fix =
          fmt::format("{} in bfloat16 or with residency streamed, or {}",
                      holders.empty() ? "load it" : "unload or unpin one of them, load this one",
                      is_over ? "raise --memory-budget" : "spread its blocks over more devices")};
  if (may_pass) detail.retry_after = std::chrono::seconds(5);
  const std::string lack =
      is_over ? fmt::format("{} more than its memory budget has left", BytesText(over_budget))
              : fmt::format("which has {} free", BytesText(now.free_bytes));
  return ResourceExhausted(fmt::format("the model takes {} of {}, {}{}",
                                       BytesText(room.wanted_bytes), now.device, lack, holders),
                           std::move(detail));
}

// `id`'s own memory is there for it again.
void Unload(const std::string& id, std::vector<Resident>& residents, LoadRoom& room) {
  const auto own = std::find_if(residents.begin(), residents.end(),
                                [&id](const Resident& resident) { return resident.id == id; });
  if (own == residents.end()) return;
  for (auto& [device, on] : room.devices) {
    const int64_t bytes = BytesOn(*own, device);
    on.now.weight_bytes -= bytes;  // or it is being loaded: what counts is the sum
    if (on.now.free_bytes > 0) on.now.free_bytes += bytes;
  }
  residents.erase(own);
}

}  // namespace

bool DeviceBudget::HasRoomToRun(int64_t bytes) const {
  MemorySnapshot after = now;
  after.weight_bytes -= evicted_bytes;
  if (after.free_bytes > 0) after.free_bytes += evicted_bytes;
  return MissingBytes(after, wanted_bytes + bytes) == 0;
}

LoadRoom FindRoom(const std::string& id, const DeviceBytes& wanted,
                  const std::map<std::string, MemorySnapshot>& now,
                  std::vector<Resident> residents) {
  LoadRoom room;
  for (const auto& [device, bytes] : wanted) {
    room.devices[device] = {.now = now.at(device), .wanted_bytes = bytes};
  }
  Unload(id, residents, room);
  std::sort(residents.begin(), residents.end(),
            [](const Resident& a, const Resident& b) { return a.last_use < b.last_use; });
  DeviceBytes missing;
  for (const auto& [device, on] : room.devices) {
    const int64_t bytes = MissingBytes(on.now, on.wanted_bytes);
    if (bytes > 0) missing[device] = bytes;
  }
  const std::vector<const Resident*> victims = ChooseVictims(residents, missing);
  for (auto& [device, on] : room.devices) {
    on.fits = !missing.contains(device);
    for (const Resident& resident : residents) {
      if (resident.pinned) on.pinned_bytes += BytesOn(resident, device);
    }
  }
  if (!missing.empty()) {
    room.refusal = NoRoomToLoad(id, room.devices.at(missing.begin()->first), residents);
    return room;
  }
  for (const Resident* victim : victims) {
    room.victims.push_back(victim->id);
    for (auto& [device, on] : room.devices) on.evicted_bytes += BytesOn(*victim, device);
  }
  return room;
}

}  // namespace sinkd
