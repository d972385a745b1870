// Tokenizer files that would make far more of a text than it holds are refused before any is
// encoded.
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

}  // namespace
}  // namespace sinkd
