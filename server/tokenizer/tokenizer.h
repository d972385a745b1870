// Tokenizer: converts text to token ids and back like Hugging Face's fast tokenizers, and renders
// chat templates like transformers' apply_chat_template. A C++ interface to the Rust crate in this
// folder (tokenizers + minijinja).
//
// Text is UTF-8 everywhere; offsets are byte offsets into it.
// Ownership: everything returned is a copy.
// Thread-safety: const methods may be called from several threads at once.
// Errors: FAILED_PRECONDITION if the folder has no usable tokenizer or no chat template;
// INVALID_ARGUMENT for text that is not UTF-8, ids outside the vocabulary, messages that the
// template refuses (raise_exception), or a template that passes a limit on steps, output, time or
// memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

struct ChatMessage {
  std::string role;
  std::string content;
};

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive
};

struct Encoding {
  std::vector<int32_t> ids;
  std::vector<ByteRange> offsets;  // one per id; [0, 0) for tokens the post-processor adds
};

// Chat templates are rendered in child processes with limits on time and memory, so that none can
// hold a thread or the process. Starts the small process that they are forked from; a server does
// so before it has threads and models, else the first template does. False: the system gave none.
bool StartTemplateProcess();

class Tokenizer {
 public:
  // Reads tokenizer.json, tokenizer_config.json, special_tokens_map.json, added_tokens.json and
  // chat_template.jinja from `folder`.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Load(const std::filesystem::path& folder);

  // As for a folder with only these two files, given as text; the config may hold a chat template.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTexts(
      std::string_view tokenizer_json, std::string_view tokenizer_config_json);

  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  absl::StatusOr<Encoding> Encode(std::string_view text, bool add_special_tokens) const;
  absl::StatusOr<std::string> Decode(std::span<const int32_t> ids, bool skip_special_tokens) const;

  // The readable text of one token ("Ġthe" -> " the"); empty for an id out of range.
  std::string TokenText(int32_t id) const;

  // Number of ids, including added tokens.
  int64_t vocabulary_size() const;

  bool has_chat_template() const;

  // `date` (YYYY-MM-DD) is the date of strftime_now, so that prompts are reproducible.
  absl::StatusOr<std::string> RenderChat(std::span<const ChatMessage> messages,
                                         bool add_generation_prompt, std::string_view date) const;

 private:
  struct Handle;
  explicit Tokenizer(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace sinkd
