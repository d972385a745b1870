#include "server/tokenizer/sample_encoder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/base/utf8.h"
#include "server/tokenizer/text_check.h"

namespace sinkd {
namespace {

absl::Status EmptySample(std::string subject) {
  return InvalidArgument("the sample is empty", {.reason = "SAMPLE_EMPTY",
                                                 .subject = std::move(subject),
                                                 .fix = "send at least one token's worth of text"});
}

// Names the field that the caller knows instead of the tokenizer's own argument.
absl::Status WithSubject(const absl::Status& status, std::string_view subject) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail || absl::IsFailedPrecondition(status) || detail->subject == "date") return status;
  detail->subject = std::string(subject);
  return WithDetail({status.code(), status.message()}, *detail);
}

// Long texts are tried by their beginnings: first as many bytes as ordinary text has in twice the
// tokens allowed, then four times as many, and so on.
constexpr size_t kBytesPerToken = 8;
constexpr size_t kNextBeginning = 4;

struct EncodedText {
  Encoding encoding;
  bool is_beginning = false;
};

// Enough that no way to go on could make the text fit, since tokens merge only with near ones.
bool HasFarTooMany(const Encoding& encoding, int64_t max_tokens) {
  const auto count = static_cast<int64_t>(encoding.ids.size());
  return count - max_tokens > max_tokens / 4 + 64;
}

absl::StatusOr<EncodedText> EncodeWithin(const Tokenizer& tokenizer, std::string_view text,
                                         bool add_special_tokens, const EncodeLimit& limit) {
  const size_t most = text.size() / kBytesPerToken;
  if (limit.max_tokens < static_cast<int64_t>(most)) {
    SINKD_RETURN_IF_ERROR(CheckUtf8(text, "text"));  // cutting takes it for granted
    for (size_t bytes = std::max<size_t>(static_cast<size_t>(limit.max_tokens), 1) * kBytesPerToken;
         bytes < text.size(); bytes *= kNextBeginning) {
      if (limit.stop.stop_requested()) return absl::CancelledError("the call has ended");
      SINKD_ASSIGN_OR_RETURN(Encoding encoding,
                             tokenizer.Encode(CutUtf8(text, bytes), add_special_tokens));
      if (HasFarTooMany(encoding, limit.max_tokens)) return EncodedText{std::move(encoding), true};
    }
  }
  if (limit.stop.stop_requested()) return absl::CancelledError("the call has ended");
  SINKD_ASSIGN_OR_RETURN(Encoding encoding, tokenizer.Encode(text, add_special_tokens));
  return EncodedText{std::move(encoding)};
}

absl::StatusOr<EncodedSample> EncodeText(const Tokenizer& tokenizer, std::string_view text,
                                         bool add_special_tokens, std::string_view subject,
                                         const EncodeLimit& limit) {
  absl::StatusOr<EncodedText> encoded = EncodeWithin(tokenizer, text, add_special_tokens, limit);
  if (!encoded.ok()) return WithSubject(encoded.status(), subject);
  if (encoded->encoding.ids.empty()) return EmptySample(std::string(subject));
  EncodedSample sample{.ids = std::move(encoded->encoding.ids),
                       .is_beginning = encoded->is_beginning};
  sample.prompt_tokens = static_cast<int64_t>(sample.ids.size());
  return sample;
}

// Tokens that share one character (byte-level BPE) share its offsets, so they fall on the same
// side. Added tokens have no place in the text ([0, 0)); they go with what they stand before or
// after.
void SplitAt(const Encoding& encoding, int64_t boundary, EncodedSample& sample) {
  const auto& offsets = encoding.offsets;
  const auto response = std::ranges::find_if(
      offsets, [&](const ByteRange& range) { return range.begin >= boundary && range.end > 0; });
  sample.prompt_tokens = response - offsets.begin();
  sample.response_tokens = offsets.end() - response;
  sample.token_spans_boundary = std::ranges::any_of(offsets, [&](const ByteRange& range) {
    return range.begin < boundary && boundary < range.end;
  });
}

absl::StatusOr<EncodedSample> Encode(const Tokenizer& tokenizer, const TextInput& input,
                                     std::string_view /*date*/, const EncodeLimit& limit) {
  if (input.text.empty()) return EmptySample("text");
  return EncodeText(tokenizer, input.text, /*add_special_tokens=*/true, "text", limit);
}

absl::StatusOr<EncodedSample> Encode(const Tokenizer& tokenizer, const PromptResponseInput& input,
                                     std::string_view date, const EncodeLimit& limit) {
  if (input.prompt.empty() && input.response.empty()) return EmptySample("prompt");
  SINKD_RETURN_IF_ERROR(CheckUtf8(input.prompt, "prompt"));
  SINKD_RETURN_IF_ERROR(CheckUtf8(input.response, "response"));
  std::string text = input.prompt;
  if (!input.raw) {
    const std::array<ChatMessage, 1> messages = {ChatMessage{"user", input.prompt}};
    absl::StatusOr<std::string> rendered =
        tokenizer.RenderChat(messages, /*add_generation_prompt=*/true, date);
    if (!rendered.ok()) return WithSubject(rendered.status(), "prompt");
    text = *std::move(rendered);
  }
  const auto boundary = static_cast<int64_t>(text.size());
  text += input.response;

  absl::StatusOr<EncodedText> encoded =
      EncodeWithin(tokenizer, text, /*add_special_tokens=*/input.raw, limit);
  if (!encoded.ok()) return WithSubject(encoded.status(), "prompt");
  Encoding& encoding = encoded->encoding;
  if (encoding.ids.empty()) return EmptySample("prompt");
  EncodedSample sample;
  sample.chat_rendered = !input.raw;
  sample.is_beginning = encoded->is_beginning;
  if (input.response.empty()) {
    sample.prompt_tokens = static_cast<int64_t>(encoding.ids.size());
  } else {
    SplitAt(encoding, boundary, sample);
  }
  sample.ids = std::move(encoding.ids);
  return sample;
}

absl::StatusOr<EncodedSample> Encode(const Tokenizer& tokenizer, const ChatInput& input,
                                     std::string_view date, const EncodeLimit& limit) {
  if (input.messages.empty()) return EmptySample("messages");
  absl::StatusOr<std::string> rendered =
      tokenizer.RenderChat(input.messages, input.add_generation_prompt, date);
  // Its subject already names the message.
  if (!rendered.ok()) return rendered.status();
  if (rendered->empty()) return EmptySample("messages");
  SINKD_ASSIGN_OR_RETURN(EncodedSample sample,
                         EncodeText(tokenizer, *rendered,
                                    /*add_special_tokens=*/false, "messages", limit));
  sample.chat_rendered = true;
  return sample;
}

absl::StatusOr<EncodedSample> Encode(const Tokenizer& /*tokenizer*/, const TokenIdsInput& input,
                                     std::string_view /*date*/, const EncodeLimit& /*limit*/) {
  if (input.ids.empty()) return EmptySample("token_ids");
  EncodedSample sample{.ids = input.ids, .chat_rendered = input.chat_rendered};
  sample.prompt_tokens = static_cast<int64_t>(sample.ids.size());
  return sample;
}

}  // namespace

absl::StatusOr<EncodedSample> EncodeSample(const Tokenizer& tokenizer, const SampleInput& input,
                                           std::string_view date, const EncodeLimit& limit) {
  return std::visit([&](const auto& kind) { return Encode(tokenizer, kind, date, limit); }, input);
}

}  // namespace sinkd
