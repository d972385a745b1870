// Registry: the models under one root folder and their life - listing, loading, handing out,
// unloading. Clients name ids, never paths.
//
// Handles (shared_ptr<const LoadedModel>) keep a model alive while in use; after Unload the memory
// goes when the last handle does.
// Thread-safety: all methods may be called from any thread. A load runs on the caller's thread and
// stalls no other model; a second caller loading the same model follows the first.
// Errors: INVALID_ARGUMENT for an id that is not one; NOT_FOUND; FAILED_PRECONDITION (not loaded,
// cannot be loaded); UNAVAILABLE with retry_after (being loaded or unloaded); RESOURCE_EXHAUSTED.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/model.h"
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
};

// ^[a-z0-9][a-z0-9._-]{0,63}$
bool IsModelId(std::string_view id);

class Registry {
 public:
  // Reads a checkpoint folder; `id` of the result is filled in by the registry. An error is kept as
  // the model's failure, but for CANCELLED, which leaves it as it was.
  using Loader = std::function<absl::StatusOr<LoadedModel>(
      const std::filesystem::path& folder, const LoadOptions& options,
      const std::function<void(const LoadProgress&)>& progress, std::stop_token stop)>;

  // `root` is resolved once; a model folder is a directory directly beneath it, or a link there to
  // a directory anywhere, which the operator has placed. An empty `loader` is LoadCheckpoint.
  Registry(std::filesystem::path root, LoadOptions defaults, Loader loader = {});
  ~Registry();

  std::vector<ModelEntry> List() const;  // by id
  absl::StatusOr<ModelEntry> Get(std::string_view id) const;

  // Returns when the model is ready. `stop` abandons the wait; the load itself is abandoned only
  // when the caller that began it stops.
  absl::StatusOr<ModelEntry> Load(std::string_view id, const LoadOptions& options,
                                  const std::function<void(const LoadProgress&)>& progress,
                                  std::stop_token stop);
  absl::StatusOr<ModelEntry> Unload(std::string_view id);
  absl::StatusOr<ModelHandle> Acquire(std::string_view id) const;

  const LoadOptions& defaults() const { return defaults_; }

 private:
  struct Slot;
  std::filesystem::path root_;
  LoadOptions defaults_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Slot>, std::less<>> slots_;
};

}  // namespace sinkd
