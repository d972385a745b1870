#include "server/models/registry_state.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/models/free_memory.h"
#include "server/models/registry_errors.h"
#include "server/telemetry/log.h"

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

std::string_view ActivationsText(const LoadOptions& options) {
  return options.activation_quantization == ActivationQuantization::kAsStored
             ? ", activations rounded as stored"
             : "";
}

DeviceBytes WeightsByDevice(const ModelPlan& plan) {
  DeviceBytes bytes;
  for (const DeviceShare& share : plan.devices) bytes[share.device] += share.weight_bytes;
  return bytes;
}

using Clock = std::chrono::steady_clock;

int64_t Sum(const DeviceBytes& bytes) {
  int64_t sum = 0;
  for (const auto& [device, amount] : bytes) sum += amount;
  return sum;
}

void LogLoad(const std::string& id, const LoadOptions& options,
             const absl::StatusOr<LoadedModel>& loaded, int64_t bytes, const std::string& caller,
             Clock::duration took) {
  std::vector<LogField> fields = {
      {"model", id}, {"device", options.device}, {"residency", Name(options.residency)}};
  if (loaded.ok() && loaded->model) {
    fields.emplace_back("compute_type", loaded->model->info().compute_type);
    fields.emplace_back("attention", loaded->model->info().attention);
  }
  if (loaded.ok()) fields.emplace_back("bytes", bytes);
  fields.emplace_back("seconds", std::chrono::duration<double>(took));
  if (!caller.empty()) fields.emplace_back("caller", caller);
  if (loaded.ok()) return Log(LogLevel::kInfo, "model loaded", fields);
  const std::string error =
      Shorten({loaded.status().message().data(), loaded.status().message().size()}, 500);
  fields.emplace_back("error", error);
  Log(LogLevel::kWarning, "model not loaded", fields);
}

}  // namespace

void Registry::State::Released(const std::string& id) {
  std::optional<Slot::Unload> unload;
  int64_t bytes = 0;
  {
    const std::lock_guard lock(mutex);
    Slot& slot = slots[id];
    unload = std::exchange(slot.unload, std::nullopt);
    bytes = Sum(slot.held);
    slot.info.reset();
    slot.has_chat_template = false;
    slot.pinned = false;
    slot.held.clear();
    Enter(id, slot, ModelState::kAvailable);
  }
  if (!unload) return;  // with the registry
  std::vector<LogField> fields = {
      {"model", id},
      {"why", unload->why},
      {"bytes", bytes},
      {"seconds", std::chrono::duration<double>(Clock::now() - unload->began)}};
  if (!unload->caller.empty()) fields.emplace_back("caller", unload->caller);
  Log(LogLevel::kInfo, "model unloaded", fields);
}

std::vector<std::string> Registry::State::FolderIds() {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !entry->is_directory(unreadable)) continue;
    const std::string id = FolderNameFor(entry->path());
    if (id.empty()) {
      others.push_back(std::move(name));
      continue;
    }
    for (std::string& each : IdsOf(id, entry->path())) ids.push_back(std::move(each));
  }
  if (!on_skipped || others.empty()) return ids;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(others, [this](const std::string& name) { return !skipped.insert(name).second; });
  }
  for (const std::string& name : others) on_skipped(name);
  return ids;
}

std::vector<std::string> Registry::State::Ids() {
  std::vector<std::string> ids = FolderIds();
  {
    const std::lock_guard lock(mutex);
    for (const auto& [id, slot] : slots) {
      const bool in_memory =
          slot.state != ModelState::kAvailable && slot.state != ModelState::kFailed;
      if (in_memory) ids.push_back(id);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

ModelEntry Registry::State::Describe(const std::string& id) {
  ModelEntry entry{.id = id};
  const absl::StatusOr<fs::path> folder = Folder(id);
  absl::StatusOr<DecoderSpec> spec = !folder.ok()      ? folder.status()
                                     : folder->empty() ? NoSuchModel(id, {})
                                                       : specs.Read(*folder);
  const std::lock_guard lock(mutex);
  if (const Slot* slot = Find(id)) {
    entry.state = slot->state;
    entry.info = slot->info;
    entry.has_chat_template = slot->has_chat_template;
    entry.failure = slot->failure;
    entry.pinned = slot->pinned;
    entry.users = slot->users;
    entry.last_used = slot->last_used;
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

// Checks that a model that is loaded, or being loaded, matches a second caller's options.
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
  const bool same_activations =
      slot.options.activation_quantization == wanted.activation_quantization;
  if (same_device && same_type && residency == wanted.residency && same_activations) {
    return absl::OkStatus();
  }
  return FailedPrecondition(
      fmt::format("the model is {} on {} in {}, {}{}",
                  slot.state == ModelState::kLoading ? "being loaded" : "already loaded", device,
                  slot.info ? slot.info->compute_type : Name(slot.options.compute_type),
                  Name(residency), ActivationsText(slot.options)),
      {.reason = "MODEL_LOADED_OTHERWISE",
       .subject = ModelSubject(id),
       .value = fmt::format("{}, {}, {}{}", wanted.device, Name(wanted.compute_type),
                            Name(wanted.residency), ActivationsText(wanted)),
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
  Touch(slot);
  Enter(id, slot, ModelState::kReady);
}

ModelHandle Registry::State::Lend(const std::shared_ptr<State>& self, const std::string& id,
                                  Slot& slot) {
  ++slot.users;
  self->Touch(slot);
  ModelHandle held = slot.handle;
  const LoadedModel* const model = held.get();
  return ModelHandle(model, [self, id, held](const LoadedModel*) mutable {
    {
      const std::lock_guard lock(self->mutex);
      Slot& used = self->slots[id];
      --used.users;
      self->Touch(used);
    }
    held.reset();  // outside the lock, which a last release takes
  });
}

std::vector<Resident> Registry::State::Residents() const {
  std::vector<Resident> all;
  for (const auto& [id, slot] : slots) {
    if (slot.held.empty()) continue;
    all.push_back({.id = id,
                   .doing = slot.state == ModelState::kLoading     ? "being loaded"
                            : slot.state == ModelState::kUnloading ? "being unloaded"
                                                                   : "",
                   .pinned = slot.pinned,
                   .users = slot.users,
                   .last_use = slot.last_use,
                   .bytes = slot.held});
  }
  return all;
}

LoadRoom Registry::State::Room(const std::string& id, const DeviceBytes& wanted) const {
  return FindRoom(id, wanted, budget->Look(wanted), Residents());
}

// Evicted models are freed immediately, since nobody uses them, so the memory is then available.
absl::StatusOr<MemoryBudget::Hold> Registry::State::MakeRoom(const std::string& id,
                                                             const DeviceBytes& wanted) {
  const std::lock_guard one_by_one(making_room);
  while (true) {
    if (std::optional<MemoryBudget::Hold> hold = budget->TryHold(wanted)) {
      const std::lock_guard lock(mutex);
      slots[id].held = wanted;
      return *std::move(hold);
    }
    std::vector<ModelHandle> last;  // go outside the lock, which their release takes
    {
      const std::lock_guard lock(mutex);
      const LoadRoom room = Room(id, wanted);
      if (!room.refusal.ok()) return room.refusal;
      for (const std::string& victim : room.victims) {
        Slot& slot = slots[victim];
        last.push_back(std::move(slot.handle));
        slot.unload = {
            .why = "room for models/" + id, .caller = slots[id].caller, .began = Clock::now()};
        ++evictions;
        Enter(victim, slot, ModelState::kUnloading);
      }
    }
  }
}

LoadOptions Registry::State::WithinBudget(const std::string& id, LoadOptions options) {
  if (options.device != kAutoDevice) return options;
  for (const MemorySnapshot& device : budget->Snapshot()) {
    if (device.budget_bytes > 0) options.room[device.device] = device.budget_bytes;
  }
  const std::lock_guard lock(mutex);
  for (const Resident& resident : Residents()) {
    if (resident.CanGo() || resident.id == id) continue;
    for (const auto& [device, bytes] : resident.bytes) {
      const auto room = options.room.find(device);
      if (room != options.room.end()) room->second = std::max<int64_t>(0, room->second - bytes);
    }
  }
  return options;
}

absl::StatusOr<PlannedLoad> Registry::State::Plan(const std::string& id, const fs::path& folder,
                                                  const LoadOptions& options, int64_t positions,
                                                  std::stop_token stop) {
  PlannedLoad planned;
  SINKD_ASSIGN_OR_RETURN(planned.plan,
                         PlanModel(folder, WithinBudget(id, options), positions, std::move(stop)));
  const std::lock_guard lock(mutex);
  planned.room = Room(id, WeightsByDevice(planned.plan));
  return planned;
}

// If a folder cannot be planned, the loader reports what is wrong with it.
absl::StatusOr<MemoryBudget::Hold> Registry::State::Reserve(const std::string& id,
                                                            const fs::path& folder,
                                                            LoadOptions& options,
                                                            std::stop_token stop) {
  options = WithinBudget(id, std::move(options));
  const absl::StatusOr<ModelPlan> plan = PlanModel(folder, options, 1, stop);
  if (absl::IsCancelled(plan.status())) return plan.status();
  if (!plan.ok()) return MemoryBudget::Hold();
  options.device = plan->Placement();
  SINKD_ASSIGN_OR_RETURN(MemoryBudget::Hold hold, MakeRoom(id, WeightsByDevice(*plan)));
  if (!budget->WaitForRuns(hold, std::move(stop))) return Cancelled("the load was cancelled");
  return hold;
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
  const Clock::time_point begin = Clock::now();
  const std::string caller = slot.caller;
  lock.unlock();

  const absl::StatusOr<fs::path> found = Folder(id);
  const fs::path folder = found.ok() ? *found : fs::path();
  LoadOptions decided = options;
  absl::StatusOr<LoadedModel> loaded = found.ok() ? NoSuchModel(id, {}) : found.status();
  auto hold = std::make_shared<MemoryBudget::Hold>();
  absl::Status room = folder.empty() ? loaded.status() : absl::OkStatus();
  if (room.ok()) {
    absl::StatusOr<MemoryBudget::Hold> reserved = Reserve(id, folder, decided, stop);
    room = reserved.status();
    if (reserved.ok()) *hold = *std::move(reserved);
  }
  if (!room.ok()) {
    loaded = std::move(room);
  } else {
    const Progress tell = [&](const LoadProgress& now) {
      {
        const std::lock_guard progress_lock(mutex);
        slot.progress = now;
      }
      changed.notify_all();
      if (progress) progress(now);
    };
    // A slot must not stay kLoading forever if a library throws.
    loaded = Contained([&] { return loader(folder, decided, tell, stop); });
  }
  LogLoad(id, decided, loaded, Sum(hold->bytes()), caller, Clock::now() - begin);
  ModelHandle handle;
  if (loaded.ok()) {
    loaded->id = id;
    handle = ModelHandle(new LoadedModel(*std::move(loaded)),
                         [self, id, hold](const LoadedModel* model) {
                           delete model;
                           ReturnFreeMemory();
                           *hold = {};
                           self->Released(id);
                         });
    hold->Become(MemoryBudget::Use::kWeights);
  } else {
    ReturnFreeMemory();
    *hold = {};
  }

  lock.lock();
  ++slot.loads_ended;
  slot.last_result = loaded.status();
  if (!handle) {
    slot.held.clear();
    slot.pinned = false;
  }
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

}  // namespace sinkd
