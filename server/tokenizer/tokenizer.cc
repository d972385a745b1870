#include "server/tokenizer/tokenizer.h"

#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/base/utf8.h"
#include "server/tokenizer/rust/tokenizer_abi.h"
#include "server/tokenizer/text_check.h"

namespace sinkd {
namespace {

constexpr size_t kMaxMessageBytes = 1000;

SinkdView ViewOf(std::string_view text) {
  return {text.data(), text.size()};
}

std::string Take(SinkdText text) {
  std::string result(text.data, text.size);
  sinkd_text_free(text);
  return result;
}

absl::Status Take(const SinkdFailure& failure) {
  // A template may raise a text of any length.
  const std::string message = Shorten(Take(failure.message), kMaxMessageBytes);
  ErrorDetail detail{.reason = Take(failure.reason),
                     .subject = Take(failure.subject),
                     .value = Shorten(Take(failure.value)),
                     .fix = Take(failure.fix)};
  switch (failure.code) {
    case SINKD_FAILURE_FOLDER:
      return FailedPrecondition(message, std::move(detail));
    case SINKD_FAILURE_INPUT:
      return InvalidArgument(message, std::move(detail));
    default:
      return Internal(absl::StrCat("tokenizer: ", message));
  }
}

}  // namespace

bool StartTemplateProcess() {
  return sinkd_templates_start();
}

struct Tokenizer::Handle {
  SinkdTokenizer* tokenizer = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { sinkd_tokenizer_free(tokenizer); }
};

Tokenizer::Tokenizer(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}

Tokenizer::~Tokenizer() = default;

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Load(const std::filesystem::path& folder) {
  const std::string path = folder.string();
  if (FirstInvalidUtf8(path)) {
    return FailedPrecondition("the model folder's name is not UTF-8",
                              {.reason = "TOKENIZER_UNREADABLE", .fix = "rename the folder"});
  }
  auto handle = std::make_unique<Handle>();
  SinkdFailure failure;
  if (!sinkd_tokenizer_load(ViewOf(path), &handle->tokenizer, &failure)) return Take(failure);
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(handle)));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::LoadTexts(
    std::string_view tokenizer_json, std::string_view tokenizer_config_json) {
  SINKD_RETURN_IF_ERROR(CheckUtf8(tokenizer_json, "tokenizer.json"));
  SINKD_RETURN_IF_ERROR(CheckUtf8(tokenizer_config_json, "tokenizer_config.json"));
  auto handle = std::make_unique<Handle>();
  SinkdFailure failure;
  if (!sinkd_tokenizer_load_texts(ViewOf(tokenizer_json), ViewOf(tokenizer_config_json),
                                  &handle->tokenizer, &failure)) {
    return Take(failure);
  }
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(handle)));
}

absl::StatusOr<Encoding> Tokenizer::Encode(std::string_view text, bool add_special_tokens) const {
  SINKD_RETURN_IF_ERROR(CheckUtf8(text, "text"));
  SinkdEncoding raw;
  SinkdFailure failure;
  if (!sinkd_tokenizer_encode(handle_->tokenizer, ViewOf(text), add_special_tokens, &raw,
                              &failure)) {
    return Take(failure);
  }
  Encoding encoding;
  encoding.ids.assign(raw.ids, raw.ids + raw.size);
  encoding.offsets.reserve(raw.size);
  for (size_t i = 0; i < raw.size; ++i) {
    encoding.offsets.push_back({raw.offsets[2 * i], raw.offsets[2 * i + 1]});
  }
  sinkd_encoding_free(raw);
  return encoding;
}

absl::StatusOr<std::string> Tokenizer::Decode(std::span<const int32_t> ids,
                                              bool skip_special_tokens) const {
  SinkdText text;
  SinkdFailure failure;
  if (!sinkd_tokenizer_decode(handle_->tokenizer, ids.data(), ids.size(), skip_special_tokens,
                              &text, &failure)) {
    return Take(failure);
  }
  return Take(text);
}

std::string Tokenizer::TokenText(int32_t id) const {
  SinkdText text;
  SinkdFailure failure;
  if (!sinkd_tokenizer_token_text(handle_->tokenizer, id, &text, &failure)) {
    sinkd_failure_free(failure);
    return {};
  }
  return Take(text);
}

int64_t Tokenizer::vocabulary_size() const {
  return static_cast<int64_t>(sinkd_tokenizer_vocabulary_size(handle_->tokenizer));
}

bool Tokenizer::has_chat_template() const {
  return sinkd_tokenizer_has_chat_template(handle_->tokenizer);
}

absl::StatusOr<std::string> Tokenizer::RenderChat(std::span<const ChatMessage> messages,
                                                  bool add_generation_prompt,
                                                  std::string_view date) const {
  SINKD_RETURN_IF_ERROR(CheckUtf8(date, "date"));
  std::vector<SinkdMessage> views;
  views.reserve(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& [role, content] = messages[i];
    SINKD_RETURN_IF_ERROR(CheckUtf8(role, absl::StrCat("messages[", i, "].role")));
    SINKD_RETURN_IF_ERROR(CheckUtf8(content, absl::StrCat("messages[", i, "].content")));
    views.push_back({ViewOf(role), ViewOf(content)});
  }
  SinkdText text;
  SinkdFailure failure;
  if (!sinkd_tokenizer_render_chat(handle_->tokenizer, views.data(), views.size(),
                                   add_generation_prompt, ViewOf(date), &text, &failure)) {
    return Take(failure);
  }
  return Take(text);
}

}  // namespace sinkd
