// The tokenizers that GGUF files carry, against ids of the tokenizers library and of transformers.
#include <fstream>
#include <iostream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/tokenizer_files.h"
#include "server/models/checkpoint_loader.h"
#include "server/tokenizer/tokenizer.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;

const fs::path kGguf = fs::path(SINKD_ORACLE_DIR) / "gguf";

nlohmann::json ReadJson(const std::string& name) {
  std::ifstream file(kGguf / name);
  EXPECT_TRUE(file) << "the oracle did not write " << name;
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

std::unique_ptr<Tokenizer> LoadOrFail(const fs::path& folder) {
  const auto files = ReadTokenizerFiles(folder);
  EXPECT_TRUE(files.ok()) << files.status();
  if (!files.ok() || !files->has_value()) return nullptr;
  auto tokenizer = Tokenizer::LoadTexts((*files)->tokenizer_json, (*files)->tokenizer_config_json);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

using Ids = std::vector<int32_t>;

void ExpectSameIds(const Tokenizer& tokenizer, const std::string& name) {
  const nlohmann::json strings = ReadJson("strings.json");
  const nlohmann::json cases = ReadJson(name + ".json")["cases"];
  ASSERT_EQ(cases.size(), strings.size());
  ASSERT_GE(cases.size(), 300u);
  size_t different = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string text = strings[i];
    const auto special = tokenizer.Encode(text, true);
    const auto plain = tokenizer.Encode(text, false);
    ASSERT_TRUE(special.ok() && plain.ok());
    const bool same = special->ids == cases[i]["special"].get<Ids>() &&
                      plain->ids == cases[i]["plain"].get<Ids>();
    if (!same && ++different <= 3) ADD_FAILURE() << strings[i].dump();
  }
  EXPECT_EQ(different, 0u);
  std::cout << name << ": " << cases.size() << " strings, " << different << " differ\n";
}

void ExpectSameTexts(const Tokenizer& tokenizer, const std::string& name) {
  const nlohmann::json cases = ReadJson(name + ".json")["cases"];
  ASSERT_FALSE(cases.empty());
  size_t different = 0;
  for (const auto& each : cases) {
    const auto text = tokenizer.Decode(each["special"].get<Ids>(), false);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto expected = each["decoded"].get<std::string>();
    if (*text != expected && ++different <= 3) ADD_FAILURE() << each["decoded"].dump();
  }
  EXPECT_EQ(different, 0u);
}

// The published file cuts every digit alone and begins with no BOS, as its model was trained.
TEST(GgufTokenizer, SmolLM2sIdsAreThoseOfTheRuleItNames) {
  const auto tokenizer = LoadOrFail(kGguf / "smollm2");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->vocabulary_size(), 49152);
  ExpectSameIds(*tokenizer, "smollm2");
  const auto list = tokenizer->Encode("\n\n1. 12", true);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(tokenizer->TokenText(list->ids.front()), "\n\n");
  EXPECT_EQ(tokenizer->TokenText(list->ids.back()), "2");
}

TEST(GgufTokenizer, SmolLM2DecodesAsTheLibraryDoes) {
  const auto tokenizer = LoadOrFail(kGguf / "smollm2");
  ASSERT_TRUE(tokenizer);
  ExpectSameTexts(*tokenizer, "smollm2");
}

TEST(GgufTokenizer, SmolLM2RendersChatsAsTransformersDoes) {
  const auto tokenizer = LoadOrFail(kGguf / "smollm2");
  ASSERT_TRUE(tokenizer);
  ASSERT_TRUE(tokenizer->has_chat_template());
  const nlohmann::json cases = ReadJson("smollm2.json")["templates"];
  ASSERT_FALSE(cases.empty());
  for (const auto& each : cases) {
    std::vector<ChatMessage> messages;
    for (const auto& message : each["messages"]) {
      messages.push_back({message["role"], message["content"]});
    }
    const auto text = tokenizer->RenderChat(messages, true, "2024-07-26");
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, each["text"].get<std::string>());
  }
}

class Kinds : public ::testing::TestWithParam<std::string> {};

TEST_P(Kinds, GiveTheIdsOfTransformers) {
  const auto tokenizer = LoadOrFail(kGguf / "tokenizers" / GetParam());
  ASSERT_TRUE(tokenizer);
  ExpectSameIds(*tokenizer, GetParam());
}

INSTANTIATE_TEST_SUITE_P(OfVocabularies, Kinds, ::testing::Values("llama2", "llama3", "qwen2"),
                         [](const auto& test) { return test.param; });

// One vocabulary, cut by each rule that has a name, with and without BOS and EOS.
TEST(GgufTokenizer, EachNameStandsForItsRule) {
  const nlohmann::json names = ReadJson("index.json")["rules"];
  EXPECT_GE(names.size(), 30u);
  std::set<std::string> different;
  for (const std::string name : names) {
    SCOPED_TRACE(name);
    const auto tokenizer = LoadOrFail(kGguf / "rules" / name);
    ASSERT_TRUE(tokenizer);
    ExpectSameIds(*tokenizer, "rules/" + name);
    ExpectSameTexts(*tokenizer, "rules/" + name);
    different.insert(ReadJson("rules/" + name + ".json").dump());
  }
  // The vocabulary shows nearly every rule; names of one rule agree.
  EXPECT_GE(different.size(), 14u);
}

TEST(GgufTokenizer, AGgufFileAloneIsAModelWithATokenizer) {
  const auto loaded = LoadCheckpoint(kGguf / "smollm2", {}, {}, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->tokenizer_problem, "");
  ASSERT_NE(loaded->tokenizer, nullptr);
  EXPECT_TRUE(loaded->tokenizer->has_chat_template());
  EXPECT_EQ(loaded->model->info().compute_type, "float32");
  EXPECT_TRUE(loaded->model->info().warnings.empty());
  EXPECT_EQ(loaded->model->info().weight_bytes, 134'515'008 * 4);
}

TEST(GgufTokenizer, AFolderWithTokenizerJsonKeepsItsOwn) {
  const auto files = ReadTokenizerFiles(kGguf / "folders" / "llama3");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_FALSE(files->has_value());
}

}  // namespace
}  // namespace sinkd
