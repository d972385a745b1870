// The tokenizer inside a model's weights file (GGUF files have one), as the files of a Hugging Face
// folder. Part of the engine's facade.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct TokenizerFiles {
  std::string tokenizer_json;
  std::string tokenizer_config_json;  // includes the chat template
};

// nullopt if the folder has a tokenizer.json or its weights contain no tokenizer.
// Errors: FAILED_PRECONDITION, naming file and key, for an unknown or broken tokenizer.
absl::StatusOr<std::optional<TokenizerFiles>> ReadTokenizerFiles(
    const std::filesystem::path& folder);

}  // namespace sinkd
