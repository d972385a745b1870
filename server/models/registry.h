// Registry: the models under one root folder and their life - listing, planning, loading, handing
// out, unloading. Clients name ids, never paths.
//
// Handles (shared_ptr<const LoadedModel>) keep a model alive while in use; after Unload the memory
// goes when the last handle does. A load reserves what its plan says before it starts; where the
// budget has no room, models that are READY, not pinned and without a handle are unloaded, the
// least recently used first. Thread-safety: all methods may be called from any thread. A load or
// plan runs on the caller's thread and stalls no other model; a second caller loading the same
// model follows the first. Errors: INVALID_ARGUMENT for an id that is not one; NOT_FOUND;
// FAILED_PRECONDITION (not loaded, cannot be loaded); UNAVAILABLE with retry_after (being loaded or
// unloaded); RESOURCE_EXHAUSTED.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"
#include "server/engine/model_plan.h"
#include "server/models/load_room.h"
#include "server/models/memory_budget.h"
#include "server/models/model_id.h"
#include "server/tokenizer/tokenizer.h"

namespace sinkd {

enum class ModelState {
  kAvailable,  // on disk only
  kLoading,    // being read; not in memory as a whole
  kReady,      // handed out by Acquire
  kUnloading,  // no longer handed out; handles still hold it
  kFailed,     // the last load failed
};

struct LoadedModel {
  std::string id;
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  // null when the folder has none: token ids only
  std::string tokenizer_problem;         // why it is null
};

using ModelHandle = std::shared_ptr<const LoadedModel>;

struct ModelEntry {
  std::string id;
  ModelState state = ModelState::kAvailable;
  std::optional<DecoderSpec> spec;  // read from config.json; empty when it cannot be
  std::optional<ModelInfo> info;    // when loaded
  bool has_chat_template = false;   // when loaded
  std::string failure;              // kFailed, or why spec is empty
  bool pinned = false;              // when loaded: no other load makes it go
  int64_t users = 0;                // handles that Acquire gave and that still live
  std::chrono::system_clock::time_point last_used;  // when loaded: since then, or last acquired or
                                                    // let go of
};

// A plan, and what memory there is for it.
struct PlannedLoad {
  ModelPlan plan;
  LoadRoom room;  // what Load would find now
};

class Registry {
 public:
  using Progress = std::function<void(const LoadProgress&)>;

  // Reads a checkpoint folder; the registry fills in the result's id. An error becomes the model's
  // failure, but CANCELLED leaves the model as it was.
  using Loader = std::function<absl::StatusOr<LoadedModel>(
      const std::filesystem::path& folder, const LoadOptions& options, const Progress& progress,
      std::stop_token stop)>;

  // Told of every change of a model's state, in order. kReady: its memory is taken
  // (`weight_bytes`); kAvailable and kFailed: it holds none. Called under the registry's lock: be
  // brief, and call no method of the registry.
  using Observer = std::function<void(std::string_view id, ModelState state, int64_t weight_bytes)>;

  // Told once of each folder of the root whose name is no model id; names that begin with '.' are
  // not. Called without a lock.
  using SkipObserver = std::function<void(std::string_view name)>;

  // `root` is resolved once. A model folder is a directory directly beneath it whose name is a
  // model id, or a link there to a directory anywhere, since only the operator can place one; any
  // other entry of `root` is passed over, and told to `skipped`, from the constructor on. One that
  // is a model of a Hugging Face cache stands for its snapshot (models/model_folder.h). An empty
  // `loader` is LoadCheckpoint, no `budget` one without limits of its own.
  Registry(std::filesystem::path root, LoadOptions defaults, Loader loader = {},
           Observer observer = {}, std::shared_ptr<MemoryBudget> budget = nullptr,
           SkipObserver skipped = {});
  // Handles may outlive the registry; calls of its methods may not.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // All models under the root and those still in memory, by id. Reads a config.json only when it
  // has changed since the last call.
  std::vector<ModelEntry> List() const;
  absl::StatusOr<ModelEntry> Get(std::string_view id) const;

  // Returns when the model is ready. A READY model answers at once, but FAILED_PRECONDITION when it
  // is held on another device, in another compute type or with another residency; the device "auto"
  // is wherever it is held. `progress` may be empty. `stop` abandons the wait (CANCELLED); the load
  // itself is abandoned only when the caller that began it stops, and then one of its followers
  // begins anew. `pinned` is what the model is from now on; empty: false, or what it is already.
  // `caller` is for the log: of the load, and of what is unloaded for it.
  absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                  const Progress& progress, std::stop_token stop,
                                  std::optional<bool> pinned = std::nullopt,
                                  std::string_view caller = {});

  // As PlanModel (engine/model_plan.h), for a model in any state, which does not change: one that
  // is loaded is planned as if it were unloaded first. Does not fit exactly when Load would refuse
  // it for want of memory.
  absl::StatusOr<PlannedLoad> Plan(std::string_view id, const LoadOptions& options,
                                   int64_t positions, std::stop_token stop = {}) const;

  // Hands the model out no more; its entry is kUnloading while handles live, else kAvailable.
  // Unloading a model that is kUnloading changes nothing.
  absl::StatusOr<ModelEntry> Unload(std::string_view id);
  // A handle of the caller's own, counted as one user until its last copy is gone.
  absl::StatusOr<ModelHandle> Acquire(std::string_view id) const;

  const LoadOptions& defaults() const { return defaults_; }
  const std::shared_ptr<MemoryBudget>& budget() const;
  // Models unloaded to make room for others, since the start.
  int64_t evictions() const;

 private:
  struct Slot;
  struct State;
  std::shared_ptr<State> state_;
  LoadOptions defaults_;
};

}  // namespace sinkd
