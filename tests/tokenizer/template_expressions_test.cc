// Each kind of value in each place, filter, test, method and operator of a chat template, against
// what transformers' apply_chat_template makes of it: the same text, or an error where it raises
// one.
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/tokenizer/tokenizer.h"
#include "tests/tokenizer/tokenizer_cases.h"

namespace sinkd {
namespace {

using testing::MessagesOf;

constexpr char kTokenizer[] =
    R"({"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}})";

absl::StatusOr<std::string> Render(const std::string& text, const nlohmann::json& messages) {
  const nlohmann::json config = {{"chat_template", text}};
  const auto tokenizer = Tokenizer::LoadTexts(kTokenizer, config.dump());
  if (!tokenizer.ok()) return tokenizer.status();
  return (*tokenizer)->RenderChat(MessagesOf(messages), false, "2024-07-26");
}

TEST(TemplateExpressions, AreWhatJinja2MakesOfThem) {
  std::ifstream file(SINKD_TEMPLATE_EXPRESSIONS);
  ASSERT_TRUE(file) << "the oracle did not write " << SINKD_TEMPLATE_EXPRESSIONS;
  const auto expected = nlohmann::json::parse(file);
  ASSERT_GE(expected["cases"].size(), 7000u);
  size_t raised = 0;
  size_t different = 0;
  for (const auto& each : expected["cases"]) {
    const auto text = Render(each["template"], expected["messages"]);
    const bool raises = each.contains("error");
    raised += raises;
    const bool same = raises ? !text.ok() : text.ok() && *text == each["text"].get<std::string>();
    if (same || ++different > 20) continue;
    ADD_FAILURE() << each.dump() << "\n" << (text.ok() ? *text : text.status().ToString());
  }
  EXPECT_EQ(different, 0u);
  EXPECT_GE(raised, 1000u);
  std::cout << expected["cases"].size() << " templates, " << raised << " raise, " << different
            << " differ\n";
}

}  // namespace
}  // namespace sinkd
