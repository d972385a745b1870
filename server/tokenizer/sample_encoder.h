// SampleEncoder: what a caller sends as one sample, turned into the token ids the engine runs.
//
// Rules (definitions and families, 12): a rendered chat is encoded without special tokens; prompt
// and response are encoded as one text and split by offsets; raw ids are taken as they are.
// Thread-safety: pure functions over a const Tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/statusor.h>

#include "server/tokenizer/tokenizer.h"

namespace sinkd {

// Plain text, encoded with special tokens.
struct TextInput {
  std::string text;
};

// The prompt goes through the chat template as one user message with the generation prompt (or,
// with `raw`, stands as it is, special tokens added); the response follows it unchanged.
struct PromptResponseInput {
  std::string prompt;
  std::string response;
  bool raw = false;
};

struct ChatInput {
  std::vector<ChatMessage> messages;
  bool add_generation_prompt = false;
};

struct TokenIdsInput {
  std::vector<int32_t> ids;
  bool chat_rendered = false;  // the ids come from a chat template: three primary candidates
};

using SampleInput = std::variant<TextInput, PromptResponseInput, ChatInput, TokenIdsInput>;

struct EncodedSample {
  std::vector<int32_t> ids;
  bool chat_rendered = false;  // rendered with a chat template
  int64_t prompt_tokens = 0;   // tokens that start before the response; all when none
  int64_t response_tokens = 0;
  bool token_spans_boundary = false;  // one token holds the end of the prompt and the response's
                                      // beginning; it counts as a prompt token
};

// `date` (YYYY-MM-DD) is what the chat template sees. Errors: those of Tokenizer; INVALID_ARGUMENT
// for an empty sample. ErrorDetail::subject is the field: "text", "prompt", "response",
// "messages[2].content", "token_ids". Limits on length and id range are the caller's to check.
absl::StatusOr<EncodedSample> EncodeSample(const Tokenizer& tokenizer, const SampleInput& input,
                                           std::string_view date);

}  // namespace sinkd
