// The tokenizer that a model's weights file carries, where it carries one (GGUF does), as the files
// of a Hugging Face folder. Part of the engine's facade.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct TokenizerFiles {
  std::string tokenizer_json;
  std::string tokenizer_config_json;  // with the chat template
};

// nullopt where the folder has a tokenizer.json, or its weights carry no tokenizer.
// Errors: FAILED_PRECONDITION for a tokenizer that is not known or broken, naming file and key.
absl::StatusOr<std::optional<TokenizerFiles>> ReadTokenizerFiles(
    const std::filesystem::path& folder);

}  // namespace sinkd
