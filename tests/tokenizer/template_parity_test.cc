// Rendered chats against transformers' apply_chat_template, byte for byte.
#include <iostream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/tokenizer/tokenizer_cases.h"

namespace sinkd {
namespace {

using testing::LoadOrFail;
using testing::MessagesOf;
using testing::ReadCases;
using testing::TemplateFolder;
using testing::TokenizerNames;

TEST(ChatTemplateParity, RendersAsApplyChatTemplateDoes) {
  const auto cases = ReadCases("templates");
  const std::string date = cases["date"];
  std::map<std::string, std::unique_ptr<Tokenizer>> tokenizers;
  size_t equal = 0;
  size_t refused = 0;
  for (const auto& expected : cases["cases"]) {
    const std::string name = expected["template"];
    auto& tokenizer = tokenizers[name];
    if (!tokenizer) tokenizer = LoadOrFail(TemplateFolder(name));
    if (!tokenizer) continue;
    SCOPED_TRACE(name + " on " + expected["messages"].dump());
    const auto rendered = tokenizer->RenderChat(MessagesOf(expected["messages"]),
                                                expected["add_generation_prompt"], date);
    if (expected.contains("text")) {
      EXPECT_TRUE(tokenizer->has_chat_template());
      EXPECT_TRUE(rendered.ok()) << rendered.status();
      if (!rendered.ok()) continue;
      EXPECT_EQ(*rendered, expected["text"].get<std::string>());
      equal += *rendered == expected["text"].get<std::string>();
    } else {
      EXPECT_EQ(rendered.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(rendered.status().message()),
                  ::testing::HasSubstr(expected["refusal"].get<std::string>()));
      ++refused;
    }
  }
  EXPECT_GE(tokenizers.size(), 30u);
  std::cout << tokenizers.size() << " templates, " << cases["cases"].size()
            << " renderings: " << equal << " equal, " << refused << " refused by the template\n";
}

TEST(ChatTemplateParity, RendersTheTemplateOfARealModel) {
  for (const std::string& name : TokenizerNames()) {
    if (name != "model") continue;
    const auto cases = ReadCases(name);
    const auto tokenizer = LoadOrFail(cases["folder"].get<std::string>());
    ASSERT_TRUE(tokenizer);
    for (const auto& expected : cases["templates"]) {
      const auto rendered =
          tokenizer->RenderChat(MessagesOf(expected["messages"]), true, "2024-07-26");
      ASSERT_TRUE(rendered.ok()) << rendered.status();
      EXPECT_EQ(*rendered, expected["text"].get<std::string>());
    }
    return;
  }
  GTEST_SKIP() << "the oracle had no model folder";
}

}  // namespace
}  // namespace sinkd
