#include "tests/tokenizer/tokenizer_cases.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

const std::filesystem::path kCases = SINKD_TOKENIZER_CASES;

}  // namespace

nlohmann::json ReadCases(const std::string& name) {
  std::ifstream file(kCases / (name + ".json"));
  EXPECT_TRUE(file) << "the oracle did not write " << name << ".json";
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

std::vector<std::string> TokenizerNames() {
  return ReadCases("names");
}

std::filesystem::path TemplateFolder(const std::string& name) {
  return kCases / "templates" / name;
}

std::unique_ptr<Tokenizer> LoadOrFail(const std::filesystem::path& folder) {
  auto tokenizer = Tokenizer::Load(folder);
  EXPECT_TRUE(tokenizer.ok()) << folder << ": " << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

std::vector<ChatMessage> MessagesOf(const nlohmann::json& messages) {
  std::vector<ChatMessage> result;
  for (const auto& message : messages) result.push_back({message["role"], message["content"]});
  return result;
}

}  // namespace sinkd::testing
