// Registry: the models under one root folder and their states: listing, planning, loading, handing
// out, unloading. Clients use ids, never paths.
//
// Handles (shared_ptr<const LoadedModel>) keep a model alive while it is in use; after Unload, the
// memory is freed with the last handle. A load first reserves what its plan needs. If the budget
// has no room, models that are READY, not pinned and without a handle are unloaded, the least
// recently used first. Thread-safety: all methods may be called from any thread. A load or plan
// runs on the caller's thread and does not block other models; a second caller that loads the same
// model follows the first. Errors: INVALID_ARGUMENT for an invalid id; NOT_FOUND;
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
  kLoading,    // being read; not completely in memory
  kReady,      // Acquire returns it
  kUnloading,  // no longer handed out; handles still hold it
  kFailed,     // the last load failed
};

struct LoadedModel {
  std::string id;
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  // null: token ids only
  std::string tokenizer_problem;         // why it is null
};

using ModelHandle = std::shared_ptr<const LoadedModel>;

struct ModelEntry {
  std::string id;
  ModelState state = ModelState::kAvailable;
  std::optional<DecoderSpec> spec;                  // from config.json; empty if unreadable
  std::optional<ModelInfo> info;                    // when loaded
  bool has_chat_template = false;                   // when loaded
  std::string failure;                              // kFailed, or why spec is empty
  bool pinned = false;                              // when loaded: no other load evicts it
  int64_t users = 0;                                // live handles from Acquire
  std::chrono::system_clock::time_point last_used;  // when loaded: last loaded, acquired or
                                                    // released
};

// A plan and the memory available for it.
struct PlannedLoad {
  ModelPlan plan;
  LoadRoom room;  // what Load would find now
};

class Registry {
 public:
  using Progress = std::function<void(const LoadProgress&)>;

  // Reads a checkpoint folder; the registry sets the id of the result. An error becomes the model's
  // failure, except CANCELLED, which leaves the model unchanged.
  using Loader = std::function<absl::StatusOr<LoadedModel>(
      const std::filesystem::path& folder, const LoadOptions& options, const Progress& progress,
      std::stop_token stop)>;

  // Called for every change of a model's state, in order. kReady: it holds memory
  // (`weight_bytes`); kAvailable and kFailed: it holds none. Called under the registry's lock, so
  // it must be quick and must not call the registry.
  using Observer = std::function<void(std::string_view id, ModelState state, int64_t weight_bytes)>;

  // Called once for each folder of the root whose name is not a model id, except names that begin
  // with '.'. Called without a lock.
  using SkipObserver = std::function<void(std::string_view name)>;

  // `root` is resolved once. A model folder is a directory directly below it whose name is a model
  // id without a revision, or a link there to a directory anywhere, since only the operator can
  // create one; or a model of a Hugging Face cache, which stands for its snapshots
  // (models/model_folder.h). All other entries of `root` are skipped and reported to `skipped`,
  // from the constructor on. Default `loader`:
  // LoadCheckpoint. Default `budget`: one without configured limits.
  Registry(std::filesystem::path root, LoadOptions defaults, Loader loader = {},
           Observer observer = {}, std::shared_ptr<MemoryBudget> budget = nullptr,
           SkipObserver skipped = {});
  // Handles may outlive the registry; running calls of its methods may not.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // All models under the root and those still in memory, by id. Reads a config.json only if it has
  // changed since the last call.
  std::vector<ModelEntry> List() const;
  absl::StatusOr<ModelEntry> Get(std::string_view id) const;

  // Returns when the model is ready. For a READY model it returns at once, with FAILED_PRECONDITION
  // if the model has another device, compute type or residency; the device "auto" matches any
  // placement. `progress` may be empty. `stop` ends the wait (CANCELLED). The load itself stops
  // only if the caller that started it stops; one of its followers then starts again. `pinned`
  // applies to the model from now on; empty: false for a new load, else unchanged. `caller` is for
  // the log lines of the load and of the models that it evicts.
  absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                  const Progress& progress, std::stop_token stop,
                                  std::optional<bool> pinned = std::nullopt,
                                  std::string_view caller = {});

  // As PlanModel (engine/model_plan.h), for a model in any state, without changing it. A loaded
  // model is planned as if it were unloaded first. The plan does not fit exactly when Load would
  // refuse the model for lack of memory.
  absl::StatusOr<PlannedLoad> Plan(std::string_view id, const LoadOptions& options,
                                   int64_t positions, std::stop_token stop = {}) const;

  // Stops handing out the model. Its state is kUnloading while handles live, else kAvailable.
  // Unloading a kUnloading model has no effect.
  absl::StatusOr<ModelEntry> Unload(std::string_view id);
  // Returns a handle that counts as one user until its last copy is gone.
  absl::StatusOr<ModelHandle> Acquire(std::string_view id) const;

  const LoadOptions& defaults() const { return defaults_; }
  const std::shared_ptr<MemoryBudget>& budget() const;
  // Number of models evicted since the start.
  int64_t evictions() const;

 private:
  struct Slot;
  struct State;
  std::shared_ptr<State> state_;
  LoadOptions defaults_;
};

}  // namespace sinkd
