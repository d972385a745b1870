// SampleEncoder: turns a caller's sample into the token ids that the engine runs.
//
// Rules: a rendered chat is encoded without special tokens; prompt and response are encoded as one
// text and split by offsets; token ids are used unchanged.
// Thread-safety: pure functions over a const Tokenizer.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
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

// The chat template renders the prompt as one user message with the generation prompt (or, with
// `raw`, the prompt is unchanged, with special tokens). The response follows it unchanged.
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
  bool chat_rendered = false;  // from a chat template, so there are three primary candidates
};

using SampleInput = std::variant<TextInput, PromptResponseInput, ChatInput, TokenIdsInput>;

struct EncodedSample {
  std::vector<int32_t> ids;
  bool chat_rendered = false;  // rendered with a chat template
  int64_t prompt_tokens = 0;   // tokens that start before the response; all if there is none
  int64_t response_tokens = 0;
  bool is_beginning = false;          // the ids cover only the beginning of a text that is too long
  bool token_spans_boundary = false;  // one token holds the end of the prompt and the response's
                                      // beginning; it counts as a prompt token
};

// How long a sample may be, and who still waits for it.
struct EncodeLimit {
  int64_t max_tokens = std::numeric_limits<int64_t>::max();  // more tokens than this are useless
  std::stop_token stop;                                      // requested when the caller has left
};

// `date` (YYYY-MM-DD) is the date that the chat template sees. If a text is far longer than
// `limit.max_tokens`, only its beginning is encoded. Errors: those of Tokenizer; INVALID_ARGUMENT
// for an empty sample; CANCELLED after `limit.stop` is requested. ErrorDetail::subject is the
// field: "text", "prompt", "response", "messages[2].content", "token_ids". The caller checks length
// and range of ids.
absl::StatusOr<EncodedSample> EncodeSample(const Tokenizer& tokenizer, const SampleInput& input,
                                           std::string_view date, const EncodeLimit& limit = {});

}  // namespace sinkd
