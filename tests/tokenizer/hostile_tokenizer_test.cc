// Tokenizer files that would make far more of a text than it holds are refused before any is
// encoded, and texts for which their patterns take too long are refused in bounded time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/tokenizer/tokenizer.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

Json Plain() {
  return {{"version", "1.0"},
          {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "a"}}}};
}

Json Sequence(const char* members, const Json& member, size_t count) {
  return {{"type", "Sequence"}, {members, Json(count, member)}};
}

Json Replace(const Json& pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
}

Json Template(const Json& piece, size_t count) {
  return {{"type", "TemplateProcessing"},
          {"single", Json(count, piece)},
          {"pair", Json::array({Json{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                Json{{"Sequence", {{"id", "B"}, {"type_id", 1}}}}})},
          {"special_tokens",
           {{"a", {{"id", "a"}, {"ids", Json(500, 0)}, {"tokens", Json(500, "a")}}}}}};
}

struct Hostile {
  std::string name;
  std::string part;  // of tokenizer.json
  Json state;
  std::string named;  // in the refusal
};

void PrintTo(const Hostile& hostile, std::ostream* os) {
  *os << hostile.name;
}

std::vector<Hostile> Parts() {
  const Json doubling = Replace({{"String", "a"}}, "aa");
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json special = {{"SpecialToken", {{"id", "a"}, {"type_id", 0}}}};
  const Json model = Plain()["model"];
  Json long_unknown = model;
  long_unknown["unk_token"] = std::string(100'000, 'a');
  long_unknown["vocab"][std::string(100'000, 'a')] = 1;
  const Json long_words = {{"type", "WordPiece"},
                           {"vocab", {{"a", 0}}},
                           {"unk_token", "a"},
                           {"continuing_subword_prefix", "##"},
                           {"max_input_chars_per_word", 100'000'000}};
  return {
      {"FortyDoublings", "normalizer", Sequence("normalizers", doubling, 40), "1.100e12"},
      {"NestedDoublings", "normalizer",
       Sequence("normalizers", Sequence("normalizers", doubling, 20), 20), "normalizer"},
      {"LongReplacement", "normalizer", Replace({{"Regex", "."}}, std::string(100'000, 'b')),
       "normalizer"},
      {"ReplacementOfNothing", "normalizer", Replace({{"String", ""}}, std::string(100'000, 'b')),
       "normalizer"},
      {"LongPrefixes", "normalizer",
       Sequence("normalizers", {{"type", "Prepend"}, {"prepend", std::string(100'000, 'b')}}, 10),
       "normalizer"},
      {"FortyByteLevels", "pre_tokenizer", Sequence("pretokenizers", byte_level, 40),
       "pre_tokenizer"},
      {"TextTenThousandTimes", "post_processor", Template(text, 10'000), "post_processor"},
      {"TemplatesOfTemplates", "post_processor", Sequence("processors", Template(text, 10), 12),
       "post_processor"},
      {"MillionsOfSpecialTokens", "post_processor", Template(special, 10'000), "post_processor"},
      {"FortyDoublingsDecoded", "decoder", Sequence("decoders", doubling, 40), "decoder"},
      {"LongUnknownToken", "model", long_unknown, "100000 bytes"},
      {"LongWords", "model", long_words, "max_input_chars_per_word"},
  };
}

class HostileTokenizer : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileTokenizer, IsRefusedBeforeItEncodes) {
  Json files = Plain();
  files[GetParam().part] = GetParam().state;
  const auto tokenizer = Tokenizer::LoadTexts(files.dump(), "{}");
  ASSERT_EQ(tokenizer.status().code(), absl::StatusCode::kFailedPrecondition) << tokenizer.status();
  const auto detail = GetErrorDetail(tokenizer.status());
  EXPECT_EQ(detail->reason, "TOKENIZER_UNREADABLE");
  EXPECT_EQ(detail->subject, "tokenizer.json");
  EXPECT_FALSE(detail->fix.empty());
  EXPECT_THAT(std::string(tokenizer.status().message()), HasSubstr(GetParam().named));
  EXPECT_THAT(std::string(tokenizer.status().message()), HasSubstr("the limit is"));
}

INSTANTIATE_TEST_SUITE_P(All, HostileTokenizer, ::testing::ValuesIn(Parts()),
                         [](const auto& row) { return row.param.name; });

TEST(HostileTokenizers, WhatPublishedOnesCombineIsTaken) {
  Json files = Plain();
  files["normalizer"] = {{"type", "Sequence"},
                         {"normalizers",
                          {{{"type", "NFKC"}},
                           {{"type", "Lowercase"}},
                           {{"type", "Prepend"}, {"prepend", "\u2581"}},
                           Replace({{"String", " "}}, "\u2581")}}};
  files["pre_tokenizer"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  const auto tokenizer = Tokenizer::LoadTexts(files.dump(), "{}");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
}

Json Expression(const std::string& pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

struct Costly {
  std::string name;
  std::string part;  // of tokenizer.json
  Json state;
  std::string text;
};

void PrintTo(const Costly& costly, std::ostream* os) {
  *os << costly.name;
}

std::vector<Costly> CostlyPatterns() {
  std::string runs;
  for (int i = 0; i < 40; ++i) runs += std::string(1'400, 'a') + "c";
  const std::string a(200'000, 'a');
  // A million steps for each letter; more steps than there are atoms; a scan to the end for each.
  const std::string each_letter = "(?:(?=a*a*(?!a|c)b)b|a)";
  const std::string exponential = "(?:(?=(?:a|aa)+b)b|a)";
  const std::string quadratic = ".*b|a";
  return {
      {"SplitEachLetter", "pre_tokenizer", Expression(each_letter), runs},
      {"SplitExponential", "pre_tokenizer", Expression(exponential), a},
      {"SplitQuadratic", "pre_tokenizer", Expression(quadratic), a},
      {"SplitInASequence", "pre_tokenizer",
       Sequence("pretokenizers", Sequence("pretokenizers", Expression(each_letter), 2), 2), runs},
      {"ReplaceEachLetter", "normalizer", Replace({{"Regex", each_letter}}, "d"), runs},
      {"ReplaceExponential", "normalizer", Replace({{"Regex", exponential}}, "d"), a},
      {"ReplaceInASequence", "normalizer",
       Sequence("normalizers", Replace({{"Regex", quadratic}}, "d"), 2), a},
  };
}

class CostlyPattern : public ::testing::TestWithParam<Costly> {};

TEST_P(CostlyPattern, EndsWithAnErrorAboutTheText) {
  Json files = Plain();
  files[GetParam().part] = GetParam().state;
  const auto tokenizer = Tokenizer::LoadTexts(files.dump(), "{}");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const auto encoding = (*tokenizer)->Encode(GetParam().text, true);
  ASSERT_EQ(encoding.status().code(), absl::StatusCode::kInvalidArgument) << encoding.status();
  EXPECT_EQ(GetErrorDetail(encoding.status())->reason, "TEXT_NOT_ENCODABLE");
  EXPECT_THAT(std::string(encoding.status().message()), HasSubstr("takes too long"));
  const auto other = (*tokenizer)->Encode("aaa", true);
  EXPECT_TRUE(other.ok()) << other.status();
}

INSTANTIATE_TEST_SUITE_P(All, CostlyPattern, ::testing::ValuesIn(CostlyPatterns()),
                         [](const auto& row) { return row.param.name; });

// Qwen2's pattern takes a step back for each blank of a run, to look for a line break. Where that
// is too much, a text is refused and not split otherwise.
TEST(CostlyPatterns, LongRunsOfBlanksAreSplitAsShortOnes) {
  Json files = Plain();
  files["pre_tokenizer"] = Expression(R"([^\r\n\p{L}]?\p{L}+|\s*[\r\n]+|\s+(?!\S)|\s+)");
  const auto tokenizer = Tokenizer::LoadTexts(files.dump(), "{}");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const auto encode = [&](size_t blanks) {
    return (*tokenizer)->Encode("a" + std::string(blanks, ' ') + "a", true);
  };
  for (const int blanks : {3, 900'000}) {
    const auto encoding = encode(static_cast<size_t>(blanks));
    ASSERT_TRUE(encoding.ok()) << encoding.status();
    ASSERT_EQ(encoding->offsets.size(), 3);
    EXPECT_EQ(encoding->offsets[1].begin, 1);
    EXPECT_EQ(encoding->offsets[1].end, blanks);  // the last blank stays with the letter
    EXPECT_EQ(encoding->offsets[2].begin, blanks);
  }
  EXPECT_EQ(GetErrorDetail(encode(5'000'000).status())->reason, "TEXT_NOT_ENCODABLE");
}

}  // namespace
}  // namespace sinkd
