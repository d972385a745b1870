#include "server/models/checkpoint_loader.h"

#include <string>
#include <utility>

#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<LoadedModel> LoadCheckpoint(const std::filesystem::path& folder,
                                           const LoadOptions& options,
                                           const Registry::Progress& progress,
                                           std::stop_token stop) {
  LoadedModel loaded;
  SINKD_ASSIGN_OR_RETURN(loaded.model, Model::Load(folder, options, progress, stop));
  if (stop.stop_requested()) return Cancelled("the load was cancelled");
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::Load(folder);
  if (tokenizer.ok()) {
    loaded.tokenizer = *std::move(tokenizer);
  } else {
    loaded.tokenizer_problem = std::string(tokenizer.status().message());
  }
  return loaded;
}

}  // namespace sinkd
