// Token ids, offsets and decoded text against transformers' AutoTokenizer.
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tokenizer/tokenizer_cases.h"

namespace sinkd {
namespace {

using testing::LoadOrFail;
using testing::ReadCases;
using testing::TokenizerNames;

// Calls `check(tokenizer, text, case)` for each string of each tokenizer; true is agreement.
void ForEachCase(const auto& check) {
  const auto strings = ReadCases("strings");
  size_t compared = 0;
  const auto names = TokenizerNames();
  for (const std::string& name : names) {
    const auto cases = ReadCases(name);
    const auto tokenizer = LoadOrFail(cases["folder"].get<std::string>());
    if (!tokenizer) continue;
    ASSERT_EQ(cases["cases"].size(), strings.size());
    size_t different = 0;
    for (size_t i = 0; i < strings.size(); ++i) {
      const std::string text = strings[i];
      if (check(*tokenizer, text, cases["cases"][i])) continue;
      if (++different <= 3) ADD_FAILURE() << name << " on " << strings[i].dump();
    }
    EXPECT_EQ(different, 0u) << name;
    compared += strings.size() - different;
  }
  std::cout << strings.size() << " strings x " << names.size() << " tokenizers, " << compared
            << " equal\n";
}

bool HasIds(const absl::StatusOr<Encoding>& encoding, const nlohmann::json& expected) {
  if (!encoding.ok()) {
    std::cout << encoding.status() << "\n";
    return false;
  }
  return encoding->ids == expected.get<std::vector<int32_t>>();
}

TEST(TokenizerParity, EncodesWithSpecialTokensAsTransformersDoes) {
  ForEachCase(
      [](const Tokenizer& tokenizer, const std::string& text, const nlohmann::json& expected) {
        return HasIds(tokenizer.Encode(text, true), expected["special"]);
      });
}

TEST(TokenizerParity, EncodesWithoutSpecialTokensAsTransformersDoes) {
  ForEachCase(
      [](const Tokenizer& tokenizer, const std::string& text, const nlohmann::json& expected) {
        return HasIds(tokenizer.Encode(text, false), expected["plain"]);
      });
}

TEST(TokenizerParity, GivesOffsetsInBytesOfTheText) {
  ForEachCase(
      [](const Tokenizer& tokenizer, const std::string& text, const nlohmann::json& expected) {
        const auto encoding = tokenizer.Encode(text, false);
        if (!encoding.ok()) return false;
        nlohmann::json offsets = nlohmann::json::array();
        for (const auto& [begin, end] : encoding->offsets) offsets.push_back({begin, end});
        if (offsets != expected["offsets"]) {
          std::cout << offsets << " not " << expected["offsets"] << "\n";
          return false;
        }
        return true;
      });
}

TEST(TokenizerParity, DecodesAsTransformersDoes) {
  ForEachCase(
      [](const Tokenizer& tokenizer, const std::string& /*text*/, const nlohmann::json& expected) {
        const std::vector<int32_t> ids = expected["special"];
        const auto text = tokenizer.Decode(ids, false);
        return text.ok() && *text == expected["decoded"].get<std::string>();
      });
}

TEST(TokenizerParity, DecodesWithoutSpecialTokensAsTransformersDoes) {
  ForEachCase(
      [](const Tokenizer& tokenizer, const std::string& /*text*/, const nlohmann::json& expected) {
        const std::vector<int32_t> ids = expected["special"];
        const auto text = tokenizer.Decode(ids, true);
        return text.ok() && *text == expected["skipped"].get<std::string>();
      });
}

TEST(TokenizerParity, CountsTheVocabularyAsTransformersDoes) {
  for (const std::string& name : TokenizerNames()) {
    const auto cases = ReadCases(name);
    const auto tokenizer = LoadOrFail(cases["folder"].get<std::string>());
    ASSERT_TRUE(tokenizer);
    EXPECT_EQ(tokenizer->vocabulary_size(), cases["size"].get<int64_t>()) << name;
  }
}

TEST(TokenizerParity, TokenTextsOfByteLevelTokensReadAsText) {
  const auto tokenizer = LoadOrFail(ReadCases("llama3")["folder"].get<std::string>());
  ASSERT_TRUE(tokenizer);
  const auto encoding = tokenizer->Encode(" the<|eot_id|>\n", false);
  ASSERT_TRUE(encoding.ok());
  std::string joined;
  for (const int32_t id : encoding->ids) joined += tokenizer->TokenText(id);
  EXPECT_EQ(joined, " the<|eot_id|>\n");
  EXPECT_EQ(tokenizer->TokenText(-1), "");
  EXPECT_EQ(tokenizer->TokenText(1 << 30), "");
}

TEST(TokenizerParity, TokenTextsOfSentencePieceTokensKeepTheirBlank) {
  const auto tokenizer = LoadOrFail(ReadCases("llama2")["folder"].get<std::string>());
  ASSERT_TRUE(tokenizer);
  const auto encoding = tokenizer->Encode("the\n", false);
  ASSERT_TRUE(encoding.ok());
  std::string joined;
  for (const int32_t id : encoding->ids) joined += tokenizer->TokenText(id);
  EXPECT_EQ(joined, " the\n");
}

}  // namespace
}  // namespace sinkd
