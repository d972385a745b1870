// State shared by a Registry and its handles. Internal to this module.
//
// Thread-safety: `mutex` guards the slots; comments say which methods require it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "server/models/load_room.h"
#include "server/models/model_folder.h"
#include "server/models/registry.h"
#include "server/models/spec_cache.h"

namespace sinkd {

// The state of one model. Guarded by State::mutex.
struct Registry::Slot {
  struct Unload {  // for the log
    std::string why;
    std::string caller;
    std::chrono::steady_clock::time_point began;
  };

  ModelState state = ModelState::kAvailable;
  std::string failure;    // of the last load; empty unless kFailed
  LoadOptions options;    // of the running or finished load
  std::string caller;     // who started that load
  LoadProgress progress;  // kLoading
  ModelHandle handle;     // kReady
  bool pinned = false;    // kLoading, kReady, kUnloading
  int64_t users = 0;      // live handles
  int64_t last_use = 0;   // in the order of State::uses
  std::chrono::system_clock::time_point last_used;
  DeviceBytes held;               // memory reserved for it
  std::optional<ModelInfo> info;  // kReady and kUnloading
  bool has_chat_template = false;
  std::optional<Unload> unload;  // kUnloading
  int64_t loads_ended = 0;       // shows followers that the load is over
  absl::Status last_result;      // of that load
};

// Shared with the handles; releasing the last handle ends an unload.
struct Registry::State {
  std::filesystem::path root;
  Loader loader;
  Observer observer;
  SkipObserver on_skipped;
  std::shared_ptr<MemoryBudget> budget;
  SpecCache specs;
  std::mutex making_room;  // one load at a time; taken before `mutex`
  std::mutex mutex;
  std::condition_variable_any changed;
  std::map<std::string, Slot, std::less<>> slots;
  std::set<std::string> skipped;  // reported to on_skipped
  int64_t uses = 0;
  int64_t evictions = 0;

  // The ids of the root's folders (models/model_folder.h); reports the others to on_skipped.
  std::vector<std::string> FolderIds();

  // The folder of a model; empty if there is none. Errors: as FindModelFolder.
  absl::StatusOr<std::filesystem::path> Folder(std::string_view id) const {
    return FindModelFolder(root, id);
  }

  // The slot of `id`, under the lock; null if the model was never used.
  Slot* Find(std::string_view id) {
    const auto found = slots.find(id);
    return found == slots.end() ? nullptr : &found->second;
  }

  void Enter(std::string_view id, Slot& slot, ModelState next) {
    slot.state = next;
    if (observer) observer(id, next, slot.info ? slot.info->weight_bytes : 0);
    changed.notify_all();
  }

  void Released(const std::string& id);

  void Touch(Slot& slot) {
    slot.last_use = ++uses;
    slot.last_used = std::chrono::system_clock::now();
  }

  // A new handle for one user. Under the lock.
  static ModelHandle Lend(const std::shared_ptr<State>& self, const std::string& id, Slot& slot);

  // Of all models under the root and those still in memory, in ascending order.
  std::vector<std::string> Ids();
  ModelEntry Describe(const std::string& id);
  absl::Status CheckSame(std::string_view id, const Slot& slot, const LoadOptions& wanted) const;
  std::optional<absl::Status> Follow(Slot& slot, std::unique_lock<std::mutex>& lock,
                                     const Progress& progress, std::stop_token stop);
  void Publish(const std::string& id, Slot& slot, ModelHandle handle);
  std::vector<Resident> Residents() const;                                // under the lock
  LoadRoom Room(const std::string& id, const DeviceBytes& wanted) const;  // under the lock
  absl::StatusOr<MemoryBudget::Hold> MakeRoom(const std::string& id, const DeviceBytes& wanted);
  // `options` with the memory that the budget leaves for "auto" after models that must stay.
  LoadOptions WithinBudget(const std::string& id, LoadOptions options);
  absl::StatusOr<PlannedLoad> Plan(const std::string& id, const std::filesystem::path& folder,
                                   const LoadOptions& options, int64_t positions,
                                   std::stop_token stop);
  // Resolves the defaults of `options`, so that the load uses what is reserved.
  absl::StatusOr<MemoryBudget::Hold> Reserve(const std::string& id,
                                             const std::filesystem::path& folder,
                                             LoadOptions& options, std::stop_token stop);
  absl::Status Lead(const std::shared_ptr<State>& self, const std::string& id,
                    const LoadOptions& options, const Progress& progress, std::stop_token stop,
                    std::unique_lock<std::mutex>& lock);
};

}  // namespace sinkd
