#include "server/models/registry.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/models/checkpoint_loader.h"
#include "server/models/free_memory.h"
#include "server/models/model_folder.h"
#include "server/models/registry_errors.h"
#include "server/models/spec_cache.h"

namespace sinkd {
namespace fs = std::filesystem;
namespace {

std::string_view Name(ComputeType type) {
  switch (type) {
    case ComputeType::kFloat32:
      return "float32";
    case ComputeType::kBfloat16:
      return "bfloat16";
    case ComputeType::kAuto:
      break;
  }
  return "the stored type";
}

std::string_view Name(Residency residency) {
  return residency == Residency::kStreamed ? "streamed" : "resident";
}

}  // namespace

// One model's life. Guarded by State::mutex.
struct Registry::Slot {
  ModelState state = ModelState::kAvailable;
  std::string failure;            // of the last load; empty unless kFailed
  LoadOptions options;            // of the load that runs or is done
  LoadProgress progress;          // kLoading
  ModelHandle handle;             // kReady
  std::optional<ModelInfo> info;  // kReady and kUnloading
  bool has_chat_template = false;
  int64_t loads_ended = 0;   // tells a follower that the load it follows is over
  absl::Status last_result;  // of that load
};

// Shared with the handles, whose last release ends an unload.
struct Registry::State {
  fs::path root;
  Loader loader;
  Observer observer;
  SpecCache specs;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::map<std::string, Slot, std::less<>> slots;

  // The folder of a model; empty when there is none.
  fs::path Folder(std::string_view id) const { return ModelFolder(root / fs::path(id)); }

  // The slot of `id`, under the lock; null when the model was never touched.
  Slot* Find(std::string_view id) {
    const auto found = slots.find(id);
    return found == slots.end() ? nullptr : &found->second;
  }

  void Enter(std::string_view id, Slot& slot, ModelState next) {
    slot.state = next;
    if (observer) observer(id, next, slot.info ? slot.info->weight_bytes : 0);
    changed.notify_all();
  }

  void Released(const std::string& id) {
    const std::lock_guard lock(mutex);
    Slot& slot = slots[id];
    slot.info.reset();
    slot.has_chat_template = false;
    Enter(id, slot, ModelState::kAvailable);
  }

  ModelEntry Describe(const std::string& id);
  absl::Status CheckSame(std::string_view id, const Slot& slot, const LoadOptions& wanted) const;
  std::optional<absl::Status> Follow(Slot& slot, std::unique_lock<std::mutex>& lock,
                                     const Progress& progress, std::stop_token stop);
  void Publish(const std::string& id, Slot& slot, ModelHandle handle);
  absl::StatusOr<LoadedModel> CallLoader(const fs::path& folder, const LoadOptions& options,
                                         const Progress& progress, std::stop_token stop) const;
  absl::Status Lead(const std::shared_ptr<State>& self, const std::string& id,
                    const LoadOptions& options, const Progress& progress, std::stop_token stop,
                    std::unique_lock<std::mutex>& lock);
};

ModelEntry Registry::State::Describe(const std::string& id) {
  ModelEntry entry{.id = id};
  const fs::path folder = Folder(id);
  absl::StatusOr<DecoderSpec> spec = folder.empty() ? NoSuchModel(id) : specs.Read(folder);
  const std::lock_guard lock(mutex);
  if (const Slot* slot = Find(id)) {
    entry.state = slot->state;
    entry.info = slot->info;
    entry.has_chat_template = slot->has_chat_template;
    entry.failure = slot->failure;
  }
  if (entry.info) {
    // What runs, whatever has become of the folder since.
    entry.spec = entry.info->spec;
  } else if (spec.ok()) {
    entry.spec = *std::move(spec);
  } else if (entry.failure.empty()) {
    entry.failure = std::string(spec.status().message());
  }
  return entry;
}

// Whether a model that is held, or being loaded, is what a second caller asks for.
absl::Status Registry::State::CheckSame(std::string_view id, const Slot& slot,
                                        const LoadOptions& wanted) const {
  const std::string& device = slot.info ? slot.info->device : slot.options.device;
  const bool same_device = wanted.device == device || wanted.device == slot.options.device ||
                           wanted.device == kAutoDevice;
  const bool same_type =
      wanted.compute_type == slot.options.compute_type ||
      (slot.info && slot.info->compute_type == Name(wanted.compute_type)) ||
      (slot.info && wanted.compute_type == ComputeType::kAuto &&
       slot.info->compute_type == (slot.info->spec.dtype == "bfloat16" ? "bfloat16" : "float32"));
  const Residency residency = slot.info ? slot.info->residency : slot.options.residency;
  if (same_device && same_type && residency == wanted.residency) return absl::OkStatus();
  return FailedPrecondition(
      fmt::format("the model is {} on {} in {}, {}",
                  slot.state == ModelState::kLoading ? "being loaded" : "already loaded", device,
                  slot.info ? slot.info->compute_type : Name(slot.options.compute_type),
                  Name(residency)),
      {.reason = "MODEL_LOADED_OTHERWISE",
       .subject = ModelSubject(id),
       .value = fmt::format("{}, {}, {}", wanted.device, Name(wanted.compute_type),
                            Name(wanted.residency)),
       .fix = "unload it first with UnloadModel, or ask for it as it is"});
}

// Waits for the load that runs to end. Its result; nullopt when its leader gave up.
std::optional<absl::Status> Registry::State::Follow(Slot& slot, std::unique_lock<std::mutex>& lock,
                                                    const Progress& progress,
                                                    std::stop_token stop) {
  const int64_t followed = slot.loads_ended;
  int64_t told = -1;
  while (true) {
    const bool woken = changed.wait(lock, stop, [&] {
      return slot.loads_ended != followed || slot.progress.bytes_done != told;
    });
    if (slot.loads_ended != followed) break;
    if (!woken) return Cancelled("the wait for the load was cancelled");
    const LoadProgress seen = slot.progress;
    told = seen.bytes_done;
    if (!progress) continue;
    lock.unlock();
    progress(seen);
    lock.lock();
  }
  if (absl::IsCancelled(slot.last_result)) return std::nullopt;
  return slot.last_result;
}

void Registry::State::Publish(const std::string& id, Slot& slot, ModelHandle handle) {
  if (handle->model) {
    slot.info = handle->model->info();
    if (!handle->tokenizer_problem.empty()) {
      slot.info->warnings.push_back(
          fmt::format("no tokenizer, only token ids are taken: {}", handle->tokenizer_problem));
    }
  }
  slot.has_chat_template = handle->tokenizer && handle->tokenizer->has_chat_template();
  slot.failure.clear();
  slot.handle = std::move(handle);
  Enter(id, slot, ModelState::kReady);
}

// A slot must not stay kLoading for good, so nothing a library throws may pass.
absl::StatusOr<LoadedModel> Registry::State::CallLoader(const fs::path& folder,
                                                        const LoadOptions& options,
                                                        const Progress& progress,
                                                        std::stop_token stop) const {
  try {
    return loader(folder, options, progress, stop);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted(
        "the host is out of memory",
        {.reason = "OUT_OF_MEMORY", .fix = "unload another model, or load in bfloat16"});
  } catch (const std::exception& error) {
    return Internal(fmt::format("the load failed: {}", error.what()));
  }
}

// Loads on this thread. Takes and gives back `lock` held.
absl::Status Registry::State::Lead(const std::shared_ptr<State>& self, const std::string& id,
                                   const LoadOptions& options, const Progress& progress,
                                   std::stop_token stop, std::unique_lock<std::mutex>& lock) {
  Slot& slot = slots[id];
  const ModelState before = slot.state;
  slot.options = options;
  slot.progress = {};
  Enter(id, slot, ModelState::kLoading);
  lock.unlock();

  const fs::path folder = Folder(id);
  absl::StatusOr<LoadedModel> loaded = NoSuchModel(id);
  if (!folder.empty()) {
    const Progress tell = [&](const LoadProgress& now) {
      {
        const std::lock_guard progress_lock(mutex);
        slot.progress = now;
      }
      changed.notify_all();
      if (progress) progress(now);
    };
    loaded = CallLoader(folder, options, tell, stop);
  }
  ModelHandle handle;
  if (loaded.ok()) {
    loaded->id = id;
    handle = ModelHandle(new LoadedModel(*std::move(loaded)), [self, id](const LoadedModel* model) {
      delete model;
      ReturnFreeMemory();
      self->Released(id);
    });
  } else {
    ReturnFreeMemory();
  }

  lock.lock();
  ++slot.loads_ended;
  slot.last_result = loaded.status();
  if (handle) {
    Publish(id, slot, std::move(handle));
  } else if (absl::IsCancelled(loaded.status())) {
    Enter(id, slot, before);
  } else {
    slot.failure = std::string(loaded.status().message());
    Enter(id, slot, ModelState::kFailed);
  }
  return loaded.status();
}

Registry::Registry(fs::path root, LoadOptions defaults, Loader loader, Observer observer)
    : state_(std::make_shared<State>()), defaults_(std::move(defaults)) {
  std::error_code error;
  state_->root = fs::canonical(root, error);
  if (error) state_->root = std::move(root);
  state_->loader = loader ? std::move(loader) : Loader(LoadCheckpoint);
  state_->observer = std::move(observer);
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
  std::vector<std::string> ids;
  std::error_code error;
  for (fs::directory_iterator entry(state_->root, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    std::string name = entry->path().filename().string();
    if (IsModelId(name) && entry->is_directory(unreadable)) ids.push_back(std::move(name));
  }
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [id, slot] : state_->slots) {
      const bool in_memory =
          slot.state != ModelState::kAvailable && slot.state != ModelState::kFailed;
      if (in_memory) ids.push_back(id);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<ModelEntry> entries;
  entries.reserve(ids.size());
  for (const std::string& id : ids) entries.push_back(state_->Describe(id));
  return entries;
}

absl::StatusOr<ModelEntry> Registry::Get(std::string_view id) const {
  SINKD_RETURN_IF_ERROR(CheckId(id));
  ModelEntry entry = state_->Describe(std::string(id));
  const bool on_disk_only =
      entry.state == ModelState::kAvailable || entry.state == ModelState::kFailed;
  if (on_disk_only && state_->Folder(id).empty()) return NoSuchModel(id);
  return entry;
}

absl::StatusOr<ModelEntry> Registry::Load(std::string_view id, const LoadOptions& options,
                                          const Progress& progress, std::stop_token stop) {
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
        result = state_->Lead(state_, name, options, progress, stop, lock);
        break;
    }
  }
  lock.unlock();
  if (!result->ok()) return *std::move(result);
  return state_->Describe(name);
}

absl::StatusOr<ModelPlan> Registry::Plan(std::string_view id, const LoadOptions& options,
                                         int64_t positions) const {
  SINKD_RETURN_IF_ERROR(CheckId(id));
  const fs::path folder = state_->Folder(id);
  if (folder.empty()) return NoSuchModel(id);
  return PlanModel(folder, options, positions);
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
    if (const Slot* slot = state_->Find(id)) {
      if (slot->state == ModelState::kReady) return slot->handle;
      if (slot->state == ModelState::kLoading) return Busy(id, "loaded");
      if (slot->state == ModelState::kUnloading) return Busy(id, "unloaded");
    }
  }
  SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, Get(id));
  return NotLoaded(id, entry.state == ModelState::kFailed ? entry.failure : "");
}

}  // namespace sinkd
