#include "client/cli/input/jsonl_sample.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using ::testing::HasSubstr;

v1::Sample Parse(std::string_view line, bool ignore_unknown = false) {
  v1::Sample sample;
  const auto error = ParseJsonlSample(line, ignore_unknown, sample);
  EXPECT_FALSE(error) << line << ": " << (error ? error->message : "");
  return sample;
}

TEST(JsonlSample, ReadsEveryKindOfInput) {
  EXPECT_EQ(Parse(R"({"text": "a\nb é \ud83d\ude00"})").text().text(), "a\nb é \xF0\x9F\x98\x80");
  const v1::Sample pair = Parse(R"({"id": "x", "prompt": "p", "response": "r", "raw": true})");
  EXPECT_EQ(pair.sample_id(), "x");
  EXPECT_EQ(pair.prompt_response().prompt(), "p");
  EXPECT_EQ(pair.prompt_response().response(), "r");
  EXPECT_TRUE(pair.prompt_response().raw());
  const v1::Sample chat = Parse(
      R"({"messages": [{"role": "system", "content": "s"}, {"content": "u", "role": "user"}],
          "add_generation_prompt": true, "id": 17})");
  EXPECT_EQ(chat.sample_id(), "17");
  ASSERT_EQ(chat.chat().messages_size(), 2);
  EXPECT_EQ(chat.chat().messages(1).role(), "user");
  EXPECT_TRUE(chat.chat().add_generation_prompt());
  const v1::Sample ids = Parse(R"({"token_ids":[0,2147483647],"chat_rendered":false})");
  EXPECT_THAT(ids.token_ids().ids(), ::testing::ElementsAre(0, 2147483647));
  EXPECT_TRUE(ids.token_ids().has_chat_rendered());
}

TEST(JsonlSample, KeepsAbsentApartFromFalse) {
  EXPECT_FALSE(Parse(R"({"prompt": "p"})").prompt_response().has_raw());
  EXPECT_FALSE(Parse(R"({"prompt": "p"})").prompt_response().has_response());
}

TEST(JsonlSample, SkipsUnknownKeysOnlyWhenAsked) {
  const char* line =
      R"({"meta": {"a": [1, {"text": 2}], "b": null}, "text": "t", "score": 1.5, "n": -3, "z": 18446744073709551615})";
  EXPECT_EQ(Parse(line, true).text().text(), "t");
  v1::Sample sample;
  const auto error = ParseJsonlSample(line, false, sample);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->column, 2);
  EXPECT_THAT(error->message, HasSubstr("--ignore-unknown-keys"));
}

TEST(JsonlSample, CapsTheDepthOfWhatItSkips) {
  const std::string deep = R"({"x":)" + std::string(100'000, '[');
  v1::Sample sample;
  const auto error = ParseJsonlSample(deep, true, sample);
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("deeper than 64"));
}

struct BadLine {
  std::string line;
  int64_t column;
  const char* message;
};

void PrintTo(const BadLine& bad, std::ostream* out) {
  *out << bad.message;
}

class BadLines : public ::testing::TestWithParam<BadLine> {};

TEST_P(BadLines, AreRefusedWithColumnAndReason) {
  v1::Sample sample;
  const auto error = ParseJsonlSample(GetParam().line, false, sample);
  ASSERT_TRUE(error) << GetParam().line;
  EXPECT_EQ(error->column, GetParam().column) << error->message;
  EXPECT_THAT(error->message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadLines,
    ::testing::Values(
        BadLine{"{\"text\": \"a\"", 13, "unexpected end of input"},
        BadLine{"{\"text\": \"a", 12, "missing closing quote"},
        BadLine{"{\"text\": \"a\"} x", 15, "not JSON"},
        BadLine{std::string("{\"text\": \"a\"}\0{\"text\": \"b\"}", 27), 14, "a zero byte"},
        BadLine{"{\"text\": \"a\"}{\"text\": \"b\"}", 14, "not JSON"},
        BadLine{"{'text': 'a'}", 2, "double quotes"}, BadLine{"{\"text\": NaN}", 10, "not JSON"},
        BadLine{"{\"token_ids\": [1, NaN]}", 19, "NaN"},
        BadLine{"{\"token_ids\": [1, -Infinity]}", 20, "not JSON"},
        BadLine{"[{\"text\": \"a\"}]", 1, "the line is an array, expected one JSON object"},
        BadLine{"\"text\"", 1, "the line is the string \"text\""},
        BadLine{"null", 1, "the line is null"}, BadLine{"42", 1, "the line is a number"},
        BadLine{"{}", 1, "the object has no input"},
        BadLine{"{\"id\": \"a\"}", 1, "the object has no input"},
        BadLine{"{\"text\": 5}", 10, "\"text\" is a number, expected a string"},
        BadLine{"{\"text\": null}", 10, "\"text\" is null, expected a string"},
        BadLine{"{\"text\": {\"a\": 1}}", 10, "\"text\" is an object, expected a string"},
        BadLine{"{\"text\": \"a\", \"text\": \"b\"}", 15, "key \"text\" comes twice"},
        BadLine{"{\"text\": \"a\", \"prompt\": \"b\"}", 1, "the object has 2 inputs"},
        BadLine{"{\"response\": \"a\"}", 1, "\"response\" needs \"prompt\""},
        BadLine{"{\"text\": \"a\", \"raw\": true}", 1, "\"raw\" needs \"prompt\""},
        BadLine{"{\"prompt\": \"a\", \"raw\": 1}", 24,
                "\"raw\" is a number, expected true or false"},
        BadLine{"{\"promt\": \"a\"}", 2, "did you mean \"prompt\"?"},
        BadLine{"{\"token_ids\": [1, 2.5]}", 19, "\"token_ids\"[1] is 2.5, expected an integer"},
        BadLine{"{\"token_ids\": [1e3]}", 16, "\"token_ids\"[0] is 1e3"},
        BadLine{"{\"token_ids\": [-1]}", 16, "\"token_ids\"[0] is -1"},
        BadLine{"{\"token_ids\": [2147483648]}", 16, "\"token_ids\"[0] is 2147483648"},
        BadLine{"{\"token_ids\": [99999999999999999999]}", 16, "\"token_ids\"[0] is 99999999999"},
        BadLine{"{\"token_ids\": [1e999]}", 20, "not JSON"},
        BadLine{"{\"token_ids\": [\"7\"]}", 16, "\"token_ids\"[0] is the string \"7\""},
        BadLine{"{\"token_ids\": [[1]]}", 16, "\"token_ids\"[0] is an array"},
        BadLine{"{\"token_ids\": \"1 2\"}", 15, "expected an array of integers"},
        BadLine{"{\"messages\": \"hi\"}", 14, "expected an array of {\"role\""},
        BadLine{"{\"messages\": [\"hi\"]}", 15, "\"messages\"[0] is the string \"hi\""},
        BadLine{"{\"messages\": [{\"role\": \"user\"}]}", 30, "\"messages\"[0] has no \"content\""},
        BadLine{"{\"messages\": [{\"content\": \"c\"}]}", 30, "\"messages\"[0] has no \"role\""},
        BadLine{"{\"messages\": [{\"role\": 1, \"content\": \"c\"}]}", 24,
                "\"messages\"[0].role is a number"},
        BadLine{"{\"messages\": [{\"role\": \"a\", \"role\": \"b\"}]}", 29, "comes twice"},
        BadLine{"{\"messages\": [{\"name\": \"a\"}]}", 16, "unknown key \"name\""},
        BadLine{"{\"id\": [], \"text\": \"a\"}", 8, "\"id\" is an array, expected a string or"},
        BadLine{"{\"id\": 1.5, \"text\": \"a\"}", 8, "\"id\" is 1.5"},
        BadLine{"{\"text\": \"\\ud800\"}", 17, "surrogate"},
        BadLine{"{\"text\": \"a\tb\"}", 12, "control character"},
        BadLine{"{\"text\": \"é\xff\"}", 12, "byte 0xff is not UTF-8"},
        BadLine{"{\"text\": \"\xc0\x80\"}", 11, "byte 0xc0 is not UTF-8"},
        BadLine{"\xff\xfe{\"", 1, "UTF-16"},
        BadLine{"{\"text\": \"漢字\", \"x\": 1}", 16, "unknown key \"x\""},
        BadLine{"{\"id\": \"" + std::string(300, 'i') + "\", \"text\": \"a\"}", 0,
                "the id has 300 bytes; at most 256"},
        BadLine{"{\"text\": \"" + std::string(5 << 20, 't') + "\"}", 0, "holds at most"}));

}  // namespace
}  // namespace sinkd::cli
