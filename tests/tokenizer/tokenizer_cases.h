// The cases that tests/oracle/tokenizer_cases.py writes, read back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/tokenizer/tokenizer.h"

namespace sinkd::testing {

nlohmann::json ReadCases(const std::string& name);

// The tokenizers that were compared, in the order of writing.
std::vector<std::string> TokenizerNames();

std::filesystem::path TemplateFolder(const std::string& name);

// Fails the running test and returns null when the folder cannot be loaded.
std::unique_ptr<Tokenizer> LoadOrFail(const std::filesystem::path& folder);

std::vector<ChatMessage> MessagesOf(const nlohmann::json& messages);

}  // namespace sinkd::testing
