// Samples become token ids: templates, joins of prompt and response, and complaints.
#include "server/tokenizer/sample_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "tests/tokenizer/temporary_folder.h"
#include "tests/tokenizer/tokenizer_cases.h"

namespace sinkd {
namespace {

using testing::LoadOrFail;
using testing::ReadCases;
using testing::TemporaryFolder;
using testing::TokenizerNames;

constexpr char kDate[] = "2024-07-26";
constexpr char kTemplate[] =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

class SampleEncoder : public ::testing::Test {
 protected:
  void SetUp() override {
    auto tokenizer = Tokenizer::Load(folder_.WriteTemplate(kTemplate).path());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    tokenizer_ = *std::move(tokenizer);
  }

  std::vector<int32_t> Ids(std::string_view text) const {
    return tokenizer_->Encode(text, false)->ids;
  }

  // The subject of the complaint about `input`.
  std::string Complaint(const SampleInput& input) const {
    const auto sample = EncodeSample(*tokenizer_, input, kDate);
    EXPECT_EQ(sample.status().code(), absl::StatusCode::kInvalidArgument) << sample.status();
    const auto detail = GetErrorDetail(sample.status());
    return detail ? detail->subject : "";
  }

  TemporaryFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(SampleEncoder, RendersThePromptAndLetsTheResponseFollowUnchanged) {
  const auto sample = EncodeSample(*tokenizer_, PromptResponseInput{"why?", "so."}, kDate);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->ids, Ids("[user]why?[assistant]so."));
  EXPECT_TRUE(sample->chat_rendered);
  EXPECT_EQ(sample->prompt_tokens, 21);
  EXPECT_EQ(sample->response_tokens, 3);
  EXPECT_FALSE(sample->token_spans_boundary);
}

TEST_F(SampleEncoder, ARawPromptStandsAsItIs) {
  const auto sample = EncodeSample(*tokenizer_, PromptResponseInput{"ab", "c", true}, kDate);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->ids, Ids("abc"));
  EXPECT_FALSE(sample->chat_rendered);
  EXPECT_EQ(sample->prompt_tokens, 2);
}

TEST_F(SampleEncoder, RendersAChat) {
  const auto sample =
      EncodeSample(*tokenizer_, ChatInput{{{"user", "a"}, {"assistant", "b"}}, true}, kDate);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->ids, Ids("[user]a[assistant]b[assistant]"));
  EXPECT_TRUE(sample->chat_rendered);
  EXPECT_EQ(sample->response_tokens, 0);
}

TEST_F(SampleEncoder, TakesTokenIdsAsTheyAre) {
  const auto sample = EncodeSample(*tokenizer_, TokenIdsInput{{7, 999999, 7}, true}, kDate);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->ids, (std::vector<int32_t>{7, 999999, 7}));
  EXPECT_TRUE(sample->chat_rendered);
  EXPECT_EQ(sample->prompt_tokens, 3);
}

TEST_F(SampleEncoder, ComplainsAboutTheFieldThatIsEmpty) {
  EXPECT_EQ(Complaint(TextInput{""}), "text");
  EXPECT_EQ(Complaint(PromptResponseInput{"", ""}), "prompt");
  EXPECT_EQ(Complaint(ChatInput{}), "messages");
  EXPECT_EQ(Complaint(TokenIdsInput{}), "token_ids");
}

TEST_F(SampleEncoder, ComplainsAboutTheFieldThatIsNotUtf8) {
  EXPECT_EQ(Complaint(TextInput{"a\xff"}), "text");
  EXPECT_EQ(Complaint(PromptResponseInput{"\xc3", "\xa9"}), "prompt");
  EXPECT_EQ(Complaint(PromptResponseInput{"a", "\x80"}), "response");
  EXPECT_EQ(Complaint(ChatInput{{{"user", "a"}, {"user", "\xed\xa0\x80"}}}), "messages[1].content");
  EXPECT_EQ(Complaint(ChatInput{{{"\xff", "a"}}}), "messages[0].role");
}

TEST_F(SampleEncoder, MillionsOfBytesAreEncoded) {
  const auto sample = EncodeSample(*tokenizer_, TextInput{std::string(2'000'000, 'a')}, kDate);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->ids.size(), 2'000'000u);
}

TEST(SampleEncoderWithoutTemplate, SaysThatTheCheckpointHasNone) {
  TemporaryFolder folder;
  const auto tokenizer = LoadOrFail(folder.WriteTokenizer().path());
  ASSERT_TRUE(tokenizer);
  EXPECT_FALSE(tokenizer->has_chat_template());
  const auto sample = EncodeSample(*tokenizer, PromptResponseInput{"a", "b"}, kDate);
  EXPECT_EQ(sample.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(EncodeSample(*tokenizer, PromptResponseInput{"a", "b", true}, kDate).ok());
}

TEST(SampleEncoderParity, SplitsPromptAndResponseWhereTheOffsetsOfTransformersDo) {
  for (const std::string& name : TokenizerNames()) {
    const auto cases = ReadCases(name);
    const auto tokenizer = LoadOrFail(cases["folder"].get<std::string>());
    ASSERT_TRUE(tokenizer);
    for (const auto& expected : cases["joins"]) {
      SCOPED_TRACE(name + " on " + expected["prompt"].dump() + " + " + expected["response"].dump());
      const auto sample = EncodeSample(
          *tokenizer, PromptResponseInput{expected["prompt"], expected["response"], true}, kDate);
      ASSERT_TRUE(sample.ok()) << sample.status();
      EXPECT_EQ(sample->ids, expected["ids"].get<std::vector<int32_t>>());
      EXPECT_EQ(sample->prompt_tokens, expected["prompt_tokens"].get<int64_t>());
      EXPECT_EQ(sample->token_spans_boundary, expected["spans"].get<bool>());
    }
  }
}

std::string Words(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "word ";
  return text;
}

TEST_F(SampleEncoder, OfATextFarTooLongTheBeginningIsEncoded) {
  const EncodeLimit limit{.max_tokens = 1000};
  const auto sample = EncodeSample(*tokenizer_, TextInput{Words(1 << 20)}, kDate, limit);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_TRUE(sample->is_beginning);
  EXPECT_GT(sample->ids.size(), 1000u);
  EXPECT_LE(sample->ids.size(), 8000u);
  const auto chat = EncodeSample(*tokenizer_, ChatInput{{{"user", Words(1 << 20)}}}, kDate, limit);
  ASSERT_TRUE(chat.ok()) << chat.status();
  EXPECT_TRUE(chat->is_beginning);
  const auto pair =
      EncodeSample(*tokenizer_, PromptResponseInput{"a", Words(1 << 20), true}, kDate, limit);
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_TRUE(pair->is_beginning);
}

TEST_F(SampleEncoder, ATextALittleTooLongIsEncodedWhole) {
  const std::string text = Words(1100);
  const auto sample = EncodeSample(*tokenizer_, TextInput{text}, kDate, {.max_tokens = 1000});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_FALSE(sample->is_beginning);
  EXPECT_EQ(sample->ids, Ids(text));
}

// Many bytes a token: its beginnings fit, so that only the whole tells.
TEST_F(SampleEncoder, ALongTextOfFewTokensIsEncodedWhole) {
  const std::string token(256, 'x');
  const auto tokenizer = Tokenizer::LoadTexts(
      R"({"version":"1.0","added_tokens":[{"id":1,"content":")" + token +
          R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,)"
          R"("special":true}],"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}})",
      "{}");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::string text;
  for (int i = 0; i < 100; ++i) text += token;
  const auto sample = EncodeSample(**tokenizer, TextInput{text}, kDate, {.max_tokens = 100});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_FALSE(sample->is_beginning);
  EXPECT_EQ(sample->ids, std::vector<int32_t>(100, 1));
}

TEST_F(SampleEncoder, StopsWhenNobodyWaits) {
  std::stop_source stop;
  stop.request_stop();
  const EncodeLimit limit{.max_tokens = 1000, .stop = stop.get_token()};
  const auto sample = EncodeSample(*tokenizer_, TextInput{Words(1 << 20)}, kDate, limit);
  EXPECT_EQ(sample.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(SampleEncoder, ALongTextIsCutBetweenCharactersAndCheckedWhole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "\u00e9\u00e9\u00e9";
  const EncodeLimit limit{.max_tokens = 1001};
  EXPECT_TRUE(EncodeSample(*tokenizer_, TextInput{"a" + text}, kDate, limit).ok());
  const auto broken = EncodeSample(*tokenizer_, TextInput{text + "\xff"}, kDate, limit);
  EXPECT_EQ(GetErrorDetail(broken.status())->reason, "TEXT_NOT_UTF8");
}

}  // namespace
}  // namespace sinkd
