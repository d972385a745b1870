#include "server/models/registry.h"

#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/models/checkpoint_loader.h"
#include "server/models/registry_errors.h"
#include "server/models/registry_state.h"

namespace sinkd {
namespace fs = std::filesystem;

Registry::Registry(fs::path root, LoadOptions defaults, Loader loader, Observer observer,
                   std::shared_ptr<MemoryBudget> budget, SkipObserver skipped)
    : state_(std::make_shared<State>()), defaults_(std::move(defaults)) {
  std::error_code error;
  state_->root = fs::canonical(root, error);
  if (error) state_->root = std::move(root);
  state_->loader = loader ? std::move(loader) : Loader(LoadCheckpoint);
  state_->observer = std::move(observer);
  state_->budget = budget ? std::move(budget) : std::make_shared<MemoryBudget>();
  state_->on_skipped = std::move(skipped);
  state_->FolderIds();
}

Registry::~Registry() {
  // The state and the handles in its slots own each other; let go of the handles, outside the lock,
  // since a last release takes it.
  std::vector<ModelHandle> handles;
  {
    const std::lock_guard lock(state_->mutex);
    for (auto& [id, slot] : state_->slots) {
      if (slot.handle) handles.push_back(std::move(slot.handle));
    }
    state_->observer = {};
  }
}

std::vector<ModelEntry> Registry::List() const {
  std::vector<ModelEntry> entries;
  for (const std::string& id : state_->Ids()) entries.push_back(state_->Describe(id));
  return entries;
}

absl::StatusOr<ModelEntry> Registry::Get(std::string_view id) const {
  SINKD_RETURN_IF_ERROR(CheckId(id));
  ModelEntry entry = state_->Describe(std::string(id));
  const bool on_disk_only =
      entry.state == ModelState::kAvailable || entry.state == ModelState::kFailed;
  if (!on_disk_only) return entry;
  const absl::StatusOr<fs::path> folder = state_->Folder(id);
  if (folder.ok() && folder->empty()) return NoSuchModel(id, state_->Ids());
  return entry;
}

absl::StatusOr<ModelEntry> Registry::Load(std::string_view id, const LoadOptions& options,
                                          const Progress& progress, std::stop_token stop,
                                          std::optional<bool> pinned, std::string_view caller) {
  SINKD_RETURN_IF_ERROR(Get(id).status());
  const std::string name(id);
  std::unique_lock lock(state_->mutex);
  Slot& slot = state_->slots[name];
  std::optional<absl::Status> result;
  while (!result) {
    switch (slot.state) {
      case ModelState::kReady:
        result = state_->CheckSame(id, slot, options);
        break;
      case ModelState::kUnloading:
        result = Busy(id, "unloaded");
        break;
      case ModelState::kLoading:
        SINKD_RETURN_IF_ERROR(state_->CheckSame(id, slot, options));
        result = state_->Follow(slot, lock, progress, stop);
        break;
      case ModelState::kAvailable:
      case ModelState::kFailed:
        slot.pinned = pinned.value_or(false);  // from the start, so that no other load takes it
        slot.caller = std::string(caller);
        result = state_->Lead(state_, name, options, progress, stop, lock);
        break;
    }
  }
  if (result->ok() && pinned) slot.pinned = *pinned;
  lock.unlock();
  if (!result->ok()) return *std::move(result);
  return state_->Describe(name);
}

absl::StatusOr<PlannedLoad> Registry::Plan(std::string_view id, const LoadOptions& options,
                                           int64_t positions, std::stop_token stop) const {
  SINKD_RETURN_IF_ERROR(CheckId(id));
  SINKD_ASSIGN_OR_RETURN(const fs::path folder, state_->Folder(id));
  if (folder.empty()) return NoSuchModel(id, state_->Ids());
  return state_->Plan(std::string(id), folder, options, positions, std::move(stop));
}

absl::StatusOr<ModelEntry> Registry::Unload(std::string_view id) {
  SINKD_RETURN_IF_ERROR(Get(id).status());
  ModelHandle last;  // goes outside the lock, which its release takes
  {
    const std::lock_guard lock(state_->mutex);
    Slot& slot = state_->slots[std::string(id)];
    if (slot.state == ModelState::kLoading) return Busy(id, "loaded");
    if (slot.state == ModelState::kReady) {
      last = std::move(slot.handle);
      slot.unload = {.why = "asked for", .began = std::chrono::steady_clock::now()};
      state_->Enter(id, slot, ModelState::kUnloading);
    } else if (slot.state != ModelState::kUnloading) {
      return NotLoaded(id, slot.failure);
    }
  }
  last.reset();
  return state_->Describe(std::string(id));
}

absl::StatusOr<ModelHandle> Registry::Acquire(std::string_view id) const {
  SINKD_RETURN_IF_ERROR(CheckId(id));
  {
    const std::lock_guard lock(state_->mutex);
    if (Slot* slot = state_->Find(id)) {
      if (slot->state == ModelState::kReady) return State::Lend(state_, std::string(id), *slot);
      if (slot->state == ModelState::kLoading) return Busy(id, "loaded");
      if (slot->state == ModelState::kUnloading) return Busy(id, "unloaded");
    }
  }
  SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, Get(id));
  return NotLoaded(id, entry.state == ModelState::kFailed ? entry.failure : "");
}

const std::shared_ptr<MemoryBudget>& Registry::budget() const {
  return state_->budget;
}

int64_t Registry::evictions() const {
  const std::lock_guard lock(state_->mutex);
  return state_->evictions;
}

}  // namespace sinkd
