// A chat template across the C ABI, rendered for a short conversation.
#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server/tokenizer/tokenizer.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::RequireToldError;

namespace {

constexpr char kTokenizer[] =
    R"({"version":"1.0","model":{"type":"WordLevel","vocab":{"[UNK]":0},"unk_token":"[UNK]"}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (sinkd::FirstInvalidUtf8(text)) return -1;
  const nlohmann::json config = {{"chat_template", text}, {"bos_token", "<s>"}};
  const auto tokenizer = sinkd::Tokenizer::LoadTexts(kTokenizer, config.dump());
  if (!tokenizer.ok()) {
    RequireToldError(tokenizer.status());
    return 0;
  }
  const std::array<sinkd::ChatMessage, 3> messages = {{{.role = "system", .content = "Be brief."},
                                                       {.role = "user", .content = " Hi\n"},
                                                       {.role = "assistant", .content = "Yes?"}}};
  const auto chat = (*tokenizer)->RenderChat(messages, true, "2024-07-26");
  if (!chat.ok()) RequireToldError(chat.status());
  return 0;
}
