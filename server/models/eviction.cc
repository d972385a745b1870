#include "server/models/eviction.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/models/memory_text.h"

namespace sinkd {
namespace {

std::string Keeps(const Resident& resident) {
  std::string why = resident.doing;
  const auto add = [&why](const std::string& more) { why += (why.empty() ? "" : ", ") + more; };
  if (resident.pinned) add("pinned");
  if (resident.users > 0) add(fmt::format("in use by {}", resident.users));
  if (why.empty()) add("idle");
  return why;
}

}  // namespace

std::optional<std::vector<std::string>> ChooseVictims(std::vector<Resident> residents,
                                                      DeviceBytes missing) {
  std::sort(residents.begin(), residents.end(),
            [](const Resident& a, const Resident& b) { return a.last_use < b.last_use; });
  std::vector<std::string> victims;
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
    if (helps) victims.push_back(resident.id);
  }
  if (!missing.empty()) return std::nullopt;
  return victims;
}

absl::Status NoRoomToLoad(const std::string& id, const DeviceBytes& wanted,
                          const DeviceBytes& missing, const std::vector<Resident>& residents) {
  const auto& [device, lacking] = *missing.begin();
  std::string holders;
  bool may_pass = false;  // waiting can help
  for (const Resident& resident : residents) {
    const auto share = resident.bytes.find(device);
    if (share == resident.bytes.end() || share->second == 0) continue;
    holders += fmt::format("{}models/{} ({}, {})", holders.empty() ? "; held by " : ", ",
                           resident.id, BytesText(share->second), Keeps(resident));
    may_pass = may_pass || !resident.pinned;
  }
  ErrorDetail detail{.reason = "MEMORY_BUDGET",
                     .subject = device,
                     .value = fmt::format("models/{}", id),
                     .fix =
                         "unload or unpin one of them, load this one in bfloat16 or with "
                         "residency streamed, or raise --memory-budget"};
  if (holders.empty()) {
    detail.fix = "load it in bfloat16 or with residency streamed, or raise --memory-budget";
  }
  if (may_pass) detail.retry_after = std::chrono::seconds(5);
  return ResourceExhausted(
      fmt::format("the model takes {} of {}, {} more than its memory budget has left{}",
                  BytesText(wanted.at(device)), device, BytesText(lacking), holders),
      std::move(detail));
}

}  // namespace sinkd
