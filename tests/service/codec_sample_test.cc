#include "server/service/analyze/codec_sample.h"

#include <variant>

#include <gtest/gtest.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

TEST(CodecSample, DecodesEveryKindOfInput) {
  sinks::v1::Sample text;
  text.mutable_text()->set_text("hello");
  EXPECT_EQ(std::get<TextInput>(*DecodeSample(std::move(text))).text, "hello");

  sinks::v1::Sample pair;
  pair.mutable_prompt_response()->set_prompt("p");
  pair.mutable_prompt_response()->set_response("r");
  pair.mutable_prompt_response()->set_raw(true);
  const auto decoded = std::get<PromptResponseInput>(*DecodeSample(std::move(pair)));
  EXPECT_EQ(decoded.prompt, "p");
  EXPECT_EQ(decoded.response, "r");
  EXPECT_TRUE(decoded.raw);

  sinks::v1::Sample chat;
  sinks::v1::ChatMessage* message = chat.mutable_chat()->add_messages();
  message->set_role("user");
  message->set_content("hi");
  chat.mutable_chat()->set_add_generation_prompt(true);
  const auto conversation = std::get<ChatInput>(*DecodeSample(std::move(chat)));
  ASSERT_EQ(conversation.messages.size(), 1u);
  EXPECT_EQ(conversation.messages[0].role, "user");
  EXPECT_EQ(conversation.messages[0].content, "hi");
  EXPECT_TRUE(conversation.add_generation_prompt);

  sinks::v1::Sample ids;
  ids.mutable_token_ids()->add_ids(-1);
  ids.mutable_token_ids()->add_ids(5);
  ids.mutable_token_ids()->set_chat_rendered(true);
  const auto tokens = std::get<TokenIdsInput>(*DecodeSample(std::move(ids)));
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{-1, 5}));
  EXPECT_TRUE(tokens.chat_rendered);
}

TEST(CodecSample, RefusesASampleWithoutInput) {
  const absl::StatusOr<SampleInput> input = DecodeSample({});
  EXPECT_EQ(GetErrorDetail(input.status())->reason, "SAMPLE_WITHOUT_INPUT");
}

TEST(CodecSample, RefusesALongSampleIdAndEchoesItsBeginning) {
  sinks::v1::Sample sample;
  sample.mutable_text()->set_text("x");
  sample.set_sample_id(std::string(256, 'a'));
  EXPECT_EQ(EchoedSampleId(sample), sample.sample_id());
  EXPECT_TRUE(DecodeSample(sinks::v1::Sample(sample)).ok());
  sample.set_sample_id(std::string(257, 'a'));
  EXPECT_EQ(EchoedSampleId(sample), std::string(253, 'a') + "...");
  const absl::StatusOr<SampleInput> input = DecodeSample(std::move(sample));
  EXPECT_EQ(input.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(input.status())->subject, "sample.sample_id");
}

TEST(CodecSample, NamesTheTextThatIsNotUtf8) {
  sinks::v1::Sample sample;
  for (const char* content : {"fine", "b\xff"}) {
    sample.mutable_chat()->add_messages()->set_content(content);
  }
  const absl::Status status = CheckTexts(sample);
  EXPECT_EQ(GetErrorDetail(status)->subject, "sample.chat.messages[1].content");
  EXPECT_EQ(GetErrorDetail(status)->value, "0xff");
}

}  // namespace
}  // namespace sinkd
