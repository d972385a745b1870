#include "server/scheduler/fair_order.h"

#include <algorithm>
#include <utility>

namespace sinkd {
namespace {

constexpr double kInteractiveWeight = 7;
constexpr double kBatchWeight = 1;

void Attach(FairOrder::Place& child, FairOrder::Place& parent) {
  child.parent = &parent;
  child.tag = parent.clock;
  parent.children.push_back(&child);
}

}  // namespace

std::string_view LaneName(Lane lane) {
  return lane == Lane::kInteractive ? "interactive" : "batch";
}

FairOrder::FairOrder() {
  for (const Lane lane : kLanes) {
    Place& place = lanes_[static_cast<size_t>(lane)];
    place.weight = lane == Lane::kInteractive ? kInteractiveWeight : kBatchWeight;
    Attach(place, root_);
  }
}

FairOrder::CallerPlace& FairOrder::FindCaller(const Account& account) {
  const auto found = std::find_if(callers_.begin(), callers_.end(), [&](const auto& each) {
    return each->account.caller == account.caller && each->account.lane == account.lane;
  });
  if (found != callers_.end()) return **found;
  ForgetIdleCallers();
  CallerPlace& caller = *callers_.emplace_back(std::make_unique<CallerPlace>());
  caller.account = account;
  Attach(caller, lanes_[static_cast<size_t>(account.lane)]);
  return caller;
}

// Those that have used more than the others are remembered, so that coming back under the same name
// wins nothing.
void FairOrder::ForgetIdleCallers() {
  std::erase_if(callers_, [](const std::unique_ptr<CallerPlace>& caller) {
    if (!caller->children.empty() || caller->tag > caller->parent->clock) return false;
    std::erase(caller->parent->children, caller.get());
    return true;
  });
}

void FairOrder::Enter(Place& leaf, const Account& account) {
  CallerPlace& caller = FindCaller(account);
  caller.account.weight = caller.weight = account.weight;  // as told last
  Attach(leaf, caller);
}

void FairOrder::Leave(Place& leaf) {
  SetWaiting(leaf, false);
  std::erase(leaf.parent->children, &leaf);
  leaf.parent = nullptr;
}

void FairOrder::SetWaiting(Place& leaf, bool waiting) {
  if ((leaf.waiting > 0) == waiting) return;
  leaf.waiting = waiting ? 1 : 0;
  Place* changed = &leaf;
  while (Place* parent = changed->parent) {
    if (waiting) changed->tag = std::max(changed->tag, parent->clock);
    parent->waiting += waiting ? 1 : -1;
    if (parent->waiting != (waiting ? 1 : 0)) return;  // it waited, or still waits, for another
    changed = parent;
  }
}

FairOrder::Place* FairOrder::Next() {
  if (root_.waiting == 0) return nullptr;
  const uint64_t turn = ++turns_;
  Place* place = &root_;
  while (!place->children.empty()) {
    Place* next = nullptr;
    for (Place* child : place->children) {
      if (child->waiting == 0) continue;
      if (next == nullptr ||
          std::pair(child->tag, child->served) < std::pair(next->tag, next->served)) {
        next = child;
      }
    }
    place->clock = std::max(place->clock, next->tag);
    next->served = turn;
    place = next;
  }
  return place;
}

void FairOrder::Charge(Place& leaf, double seconds) {
  for (Place* place = &leaf; place != nullptr; place = place->parent) {
    place->used += seconds;
    place->tag += seconds / place->weight;
  }
}

std::vector<FairOrder::Caller> FairOrder::callers() const {
  std::vector<Caller> all;
  for (const auto& each : callers_) {
    all.push_back({each->account.caller, each->account.lane,
                   static_cast<int64_t>(each->children.size()), each->waiting, each->used});
  }
  return all;
}

}  // namespace sinkd
