// Tokenizer files across the C ABI: tokenizer.json, a zero byte, tokenizer_config.json; then what a
// loaded tokenizer is asked for.
#include <string>
#include <string_view>

#include "server/tokenizer/tokenizer.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;
using sinkd::fuzz::RequireToldError;

namespace {

constexpr std::string_view kText =
    "Hello, <s>w\u00f6rld\u0301</s>!\n\t 12345 \u4f60\u597d \U0001f600 [MASK]";

void Use(const sinkd::Tokenizer& tokenizer, bool add_special_tokens) {
  const auto encoding = tokenizer.Encode(kText, add_special_tokens);
  if (!encoding.ok()) return RequireToldError(encoding.status());
  Require(encoding->ids.size() == encoding->offsets.size(), "an id without its offsets");
  const auto length = static_cast<int64_t>(kText.size());
  for (const sinkd::ByteRange& range : encoding->offsets) {
    Require(0 <= range.begin && range.begin <= range.end && range.end <= length,
            "offsets outside the text");
  }
  for (const int32_t id : encoding->ids) tokenizer.TokenText(id);
  const auto text = tokenizer.Decode(encoding->ids, !add_special_tokens);
  if (!text.ok()) RequireToldError(text.status());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view texts(reinterpret_cast<const char*>(data), size);
  const size_t end = texts.find('\0');
  const std::string_view config = end < size ? texts.substr(end + 1) : "{}";
  const auto tokenizer = sinkd::Tokenizer::LoadTexts(texts.substr(0, end), config);
  if (!tokenizer.ok()) {
    // A caller gives these texts as they were read.
    if (!sinkd::FirstInvalidUtf8(texts)) RequireToldError(tokenizer.status());
    return 0;
  }
  Require((*tokenizer)->vocabulary_size() >= 0, "the vocabulary's size");
  Use(**tokenizer, true);
  Use(**tokenizer, false);
  const sinkd::ChatMessage message{.role = "user", .content = "Hello"};
  const auto chat = (*tokenizer)->RenderChat({&message, 1}, true, "2024-07-26");
  if (!chat.ok()) RequireToldError(chat.status());
  return 0;
}
