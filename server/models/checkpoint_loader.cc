#include "server/models/checkpoint_loader.h"

#include <optional>
#include <string>
#include <utility>

#include "server/base/status.h"
#include "server/engine/tokenizer_files.h"

namespace sinkd {
namespace {

// The folder's own files first; else the tokenizer that its weights carry.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::filesystem::path& folder) {
  SINKD_ASSIGN_OR_RETURN(const std::optional<TokenizerFiles> carried, ReadTokenizerFiles(folder));
  if (!carried) return Tokenizer::Load(folder);
  return Tokenizer::LoadTexts(carried->tokenizer_json, carried->tokenizer_config_json);
}

}  // namespace

absl::StatusOr<LoadedModel> LoadCheckpoint(const std::filesystem::path& folder,
                                           const LoadOptions& options,
                                           const Registry::Progress& progress,
                                           std::stop_token stop) {
  LoadedModel loaded;
  SINKD_ASSIGN_OR_RETURN(loaded.model, Model::Load(folder, options, progress, stop));
  if (stop.stop_requested()) return Cancelled("the load was cancelled");
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = LoadTokenizer(folder);
  if (tokenizer.ok()) {
    loaded.tokenizer = *std::move(tokenizer);
  } else {
    loaded.tokenizer_problem = std::string(tokenizer.status().message());
  }
  return loaded;
}

}  // namespace sinkd
