#include "server/service/analyze/codec_sample.h"

#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/access/sha256.h"
#include "server/base/status.h"
#include "server/base/utf8.h"

namespace sinkd {
namespace {

absl::Status CheckUtf8(std::string_view text, const std::string& field) {
  const std::optional<size_t> bad = FirstInvalidUtf8(text);
  if (!bad) return absl::OkStatus();
  return InvalidArgument(
      absl::StrCat(field, " is not UTF-8: byte ", *bad, " of ", text.size(),
                   " starts no character"),
      {.reason = "TEXT_NOT_UTF8",
       .subject = field,
       .value =
           absl::StrCat("0x", absl::Hex(static_cast<unsigned char>(text[*bad]), absl::kZeroPad2)),
       .fix = "convert the text to UTF-8 before sending it"});
}

ChatInput DecodeChat(sinks::v1::ChatInput&& chat) {
  ChatInput out;
  out.add_generation_prompt = chat.add_generation_prompt();
  out.messages.reserve(static_cast<size_t>(chat.messages_size()));
  for (sinks::v1::ChatMessage& message : *chat.mutable_messages()) {
    out.messages.push_back(
        {std::move(*message.mutable_role()), std::move(*message.mutable_content())});
  }
  return out;
}

}  // namespace

std::string EchoedSampleId(const sinks::v1::Sample& sample) {
  if (FirstInvalidUtf8(sample.sample_id())) return {};
  if (sample.sample_id().size() <= kMaxSampleIdBytes) return sample.sample_id();
  return Shorten(sample.sample_id(), kMaxSampleIdBytes - 3);
}

absl::StatusOr<SampleInput> DecodeSample(sinks::v1::Sample&& sample) {
  if (sample.sample_id().size() > kMaxSampleIdBytes) {
    return InvalidArgument(absl::StrCat("sample.sample_id has ", sample.sample_id().size(),
                                        " bytes, the limit is ", kMaxSampleIdBytes),
                           {.reason = "SAMPLE_ID_TOO_LONG",
                            .subject = "sample.sample_id",
                            .value = Shorten(sample.sample_id()),
                            .fix = "use a shorter name"});
  }
  switch (sample.input_case()) {
    case sinks::v1::Sample::kText:
      return TextInput{std::move(*sample.mutable_text()->mutable_text())};
    case sinks::v1::Sample::kPromptResponse: {
      sinks::v1::PromptResponseInput& in = *sample.mutable_prompt_response();
      return PromptResponseInput{std::move(*in.mutable_prompt()), std::move(*in.mutable_response()),
                                 in.raw()};
    }
    case sinks::v1::Sample::kChat:
      return DecodeChat(std::move(*sample.mutable_chat()));
    case sinks::v1::Sample::kTokenIds:
      return TokenIdsInput{{sample.token_ids().ids().begin(), sample.token_ids().ids().end()},
                           sample.token_ids().chat_rendered()};
    case sinks::v1::Sample::INPUT_NOT_SET:
      break;
  }
  return InvalidArgument("the sample has no input",
                         {.reason = "SAMPLE_WITHOUT_INPUT",
                          .subject = "sample.input",
                          .fix = "set one of text, prompt_response, chat, token_ids"});
}

std::string InputDigest(const sinks::v1::Sample& sample) {
  std::string bytes(1, static_cast<char>(sample.input_case()));
  switch (sample.input_case()) {
    case sinks::v1::Sample::kText:
      sample.text().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kPromptResponse:
      sample.prompt_response().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kChat:
      sample.chat().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::kTokenIds:
      sample.token_ids().AppendToString(&bytes);
      break;
    case sinks::v1::Sample::INPUT_NOT_SET:
      return {};
  }
  return Sha256Bytes(bytes);
}

absl::Status CheckTexts(const sinks::v1::Sample& sample) {
  SINKD_RETURN_IF_ERROR(CheckUtf8(sample.sample_id(), "sample.sample_id"));
  SINKD_RETURN_IF_ERROR(CheckUtf8(sample.text().text(), "sample.text.text"));
  const sinks::v1::PromptResponseInput& pair = sample.prompt_response();
  SINKD_RETURN_IF_ERROR(CheckUtf8(pair.prompt(), "sample.prompt_response.prompt"));
  SINKD_RETURN_IF_ERROR(CheckUtf8(pair.response(), "sample.prompt_response.response"));
  for (int i = 0; i < sample.chat().messages_size(); ++i) {
    const std::string field = absl::StrCat("sample.chat.messages[", i, "]");
    const sinks::v1::ChatMessage& message = sample.chat().messages(i);
    SINKD_RETURN_IF_ERROR(CheckUtf8(message.role(), field + ".role"));
    SINKD_RETURN_IF_ERROR(CheckUtf8(message.content(), field + ".content"));
  }
  return absl::OkStatus();
}

}  // namespace sinkd
