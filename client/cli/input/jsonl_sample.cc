#include "client/cli/input/jsonl_sample.h"

#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/channel.h"
#include "client/cli/input/json_cursor.h"
#include "client/error_report.h"
#include "server/base/nearest_word.h"
#include "server/base/utf8.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using nlohmann::json;

constexpr size_t kMaxSkipDepth = 64;
constexpr size_t kMaxIdBytes = 256;
constexpr const char* kSampleKeys[] = {"text",      "prompt",        "response",
                                       "raw",       "messages",      "add_generation_prompt",
                                       "token_ids", "chat_rendered", "id"};
constexpr const char* kInputs = "\"text\", \"prompt\", \"messages\" or \"token_ids\"";

std::string Shown(std::string_view text) {
  const std::string_view front = CutUtf8(text, 40);
  return '"' + client::MakePrintable(front) + (front.size() < text.size() ? "…\"" : "\"");
}

// Builds the sample as the parser reads; the first thing out of place ends the parse.
class SampleHandler : public json::json_sax_t {
 public:
  SampleHandler(std::string_view line, bool ignore_unknown, v1::Sample& sample)
      : line_(line), cursor_(line), ignore_unknown_(ignore_unknown), sample_(sample) {}

  bool null() override { return Scalar("null"); }
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override { return Integer(value); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t, const string_t& text) override;
  bool string(string_t& value) override;
  bool binary(json::binary_t&) override { return false; }
  bool start_object(size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string&, const json::exception& error) override;

  // What only the whole object shows.
  void CheckWhole();
  const std::optional<LineError>& error() const { return error_; }

 private:
  enum class Place { kTop, kObject, kMessages, kMessage, kTokenIds, kSkip };

  bool Fail(std::string message) {
    error_ = LineError{ColumnAt(line_, cursor_.token_begin()), std::move(message)};
    return false;
  }
  // The value in hand has a type that its place does not take.
  bool Unexpected(std::string_view what);
  bool Scalar(std::string_view what);
  bool Integer(int64_t value);
  bool AddTokenId(int64_t value);
  bool ObjectString(std::string& value);
  bool MessageString(std::string& value);
  bool SampleKey(const std::string& name);
  bool MessageKey(const std::string& name);
  Place place() const { return places_.empty() ? Place::kTop : places_.back(); }
  // The value that comes belongs to a key that is ignored.
  bool skipping() const {
    return place() == Place::kSkip || (place() == Place::kObject && skip_value_);
  }
  std::string Path() const;
  std::string Expected() const;
  bool Has(const char* name) const { return seen_.count(name) > 0; }

  std::string_view line_;
  JsonCursor cursor_;
  bool ignore_unknown_;
  v1::Sample& sample_;
  std::vector<Place> places_;
  std::string key_;
  bool skip_value_ = false;
  std::set<std::string> seen_;
  std::set<std::string> seen_in_message_;
  v1::PromptResponseInput prompt_response_;
  v1::ChatInput chat_;
  v1::TokenIdsInput token_ids_;
  v1::TextInput text_;
  std::optional<LineError> error_;
};

std::string SampleHandler::Path() const {
  switch (place()) {
    case Place::kTop:
    case Place::kSkip:
      return "the line";
    case Place::kObject:
      return '"' + key_ + '"';
    case Place::kMessages:
      return fmt::format("\"messages\"[{}]", chat_.messages_size());
    case Place::kMessage:
      return fmt::format("\"messages\"[{}].{}", chat_.messages_size() - 1, key_);
    case Place::kTokenIds:
      return fmt::format("\"token_ids\"[{}]", token_ids_.ids_size());
  }
  return {};
}

std::string SampleHandler::Expected() const {
  switch (place()) {
    case Place::kTop:
    case Place::kSkip:
      return fmt::format("one JSON object with {}", kInputs);
    case Place::kObject:
      if (key_ == "messages") return "an array of {\"role\": ..., \"content\": ...}";
      if (key_ == "token_ids") return "an array of integers";
      if (key_ == "id") return "a string or an integer";
      if (key_ == "raw" || key_ == "add_generation_prompt" || key_ == "chat_rendered") {
        return "true or false";
      }
      return "a string";
    case Place::kMessages:
      return "an object {\"role\": ..., \"content\": ...}";
    case Place::kMessage:
      return "a string";
    case Place::kTokenIds:
      return "an integer from 0 to 2147483647";
  }
  return {};
}

bool SampleHandler::Unexpected(std::string_view what) {
  return Fail(fmt::format("{} is {}, expected {}", Path(), what, Expected()));
}

bool SampleHandler::Scalar(std::string_view what) {
  cursor_.Advance();
  return skipping() || Unexpected(what);
}

bool SampleHandler::boolean(bool value) {
  cursor_.Advance();
  if (skipping()) return true;
  if (place() == Place::kObject) {
    if (key_ == "raw") return prompt_response_.set_raw(value), true;
    if (key_ == "chat_rendered") return token_ids_.set_chat_rendered(value), true;
    if (key_ == "add_generation_prompt") return chat_.set_add_generation_prompt(value), true;
  }
  return Unexpected(value ? "true" : "false");
}

bool SampleHandler::AddTokenId(int64_t value) {
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    return Unexpected(std::to_string(value));
  }
  token_ids_.add_ids(static_cast<int32_t>(value));
  return true;
}

bool SampleHandler::Integer(int64_t value) {
  cursor_.Advance();
  if (skipping()) return true;
  if (place() == Place::kTokenIds) return AddTokenId(value);
  if (place() == Place::kObject && key_ == "id") {
    sample_.set_sample_id(std::to_string(value));
    return true;
  }
  return Unexpected("a number");
}

bool SampleHandler::number_unsigned(number_unsigned_t value) {
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value <= kLargest) return Integer(static_cast<int64_t>(value));
  cursor_.Advance();
  return skipping() || Unexpected(std::to_string(value));
}

bool SampleHandler::number_float(number_float_t, const string_t& text) {
  cursor_.Advance();
  return skipping() || Unexpected(text.substr(0, 40));
}

bool SampleHandler::string(string_t& value) {
  cursor_.Advance();
  if (skipping()) return true;
  if (place() == Place::kObject) return ObjectString(value);
  if (place() == Place::kMessage) return MessageString(value);
  return Unexpected("the string " + Shown(value));
}

bool SampleHandler::ObjectString(std::string& value) {
  if (key_ == "text") {
    text_.set_text(std::move(value));
  } else if (key_ == "prompt") {
    prompt_response_.set_prompt(std::move(value));
  } else if (key_ == "response") {
    prompt_response_.set_response(std::move(value));
  } else if (key_ == "id") {
    sample_.set_sample_id(std::move(value));
  } else {
    return Unexpected("the string " + Shown(value));
  }
  return true;
}

bool SampleHandler::MessageString(std::string& value) {
  v1::ChatMessage& message = *chat_.mutable_messages(chat_.messages_size() - 1);
  (key_ == "role" ? message.mutable_role() : message.mutable_content())->swap(value);
  return true;
}

bool SampleHandler::start_object(size_t) {
  cursor_.Advance();
  if (skipping()) {
    if (places_.size() >= kMaxSkipDepth) {
      return Fail(fmt::format("the value is nested deeper than {}", kMaxSkipDepth));
    }
    places_.push_back(Place::kSkip);
  } else if (place() == Place::kTop) {
    places_.push_back(Place::kObject);
  } else if (place() == Place::kMessages) {
    chat_.add_messages();
    seen_in_message_.clear();
    places_.push_back(Place::kMessage);
  } else {
    return Unexpected("an object");
  }
  return true;
}

bool SampleHandler::key(string_t& name) {
  cursor_.Advance();
  if (place() == Place::kSkip) return true;
  return place() == Place::kObject ? SampleKey(name) : MessageKey(name);
}

bool SampleHandler::SampleKey(const std::string& name) {
  skip_value_ = false;
  key_ = name;
  bool known = false;
  for (const char* candidate : kSampleKeys) known = known || name == candidate;
  if (!known && ignore_unknown_) {
    skip_value_ = true;
    return true;
  }
  if (!known) {
    const std::string hint = DidYouMean(name, kSampleKeys);
    return Fail(
        fmt::format("unknown key {}{}; expected one of {}, \"response\", \"raw\", "
                    "\"add_generation_prompt\", \"chat_rendered\", \"id\" "
                    "(--ignore-unknown-keys skips others)",
                    Shown(name), hint, kInputs));
  }
  if (!seen_.insert(name).second) return Fail(fmt::format("key \"{}\" comes twice", name));
  return true;
}

bool SampleHandler::MessageKey(const std::string& name) {
  key_ = name;
  if (name != "role" && name != "content") {
    return Fail(
        fmt::format("\"messages\"[{}] has the unknown key {}; expected \"role\" and "
                    "\"content\"",
                    chat_.messages_size() - 1, Shown(name)));
  }
  if (!seen_in_message_.insert(name).second) {
    return Fail(fmt::format("key \"{}\" comes twice in one message", name));
  }
  return true;
}

bool SampleHandler::end_object() {
  cursor_.Advance();
  if (place() == Place::kMessage && seen_in_message_.size() < 2) {
    return Fail(fmt::format("\"messages\"[{}] has no \"{}\"", chat_.messages_size() - 1,
                            seen_in_message_.count("role") > 0 ? "content" : "role"));
  }
  places_.pop_back();
  return true;
}

bool SampleHandler::start_array(size_t) {
  cursor_.Advance();
  if (skipping()) {
    if (places_.size() >= kMaxSkipDepth) {
      return Fail(fmt::format("the value is nested deeper than {}", kMaxSkipDepth));
    }
    places_.push_back(Place::kSkip);
  } else if (place() == Place::kObject && key_ == "messages") {
    places_.push_back(Place::kMessages);
  } else if (place() == Place::kObject && key_ == "token_ids") {
    places_.push_back(Place::kTokenIds);
  } else {
    return Unexpected("an array");
  }
  return true;
}

bool SampleHandler::end_array() {
  cursor_.Advance();
  places_.pop_back();
  return true;
}

bool SampleHandler::parse_error(size_t position, const std::string&, const json::exception& error) {
  const size_t begin = position > 0 ? position - 1 : 0;
  error_ = LineError{ColumnAt(line_, begin), JsonFault(line_, begin, error.what())};
  return false;
}

void SampleHandler::CheckWhole() {
  const int inputs = Has("text") + Has("prompt") + Has("messages") + Has("token_ids");
  const auto fail = [&](std::string message) { error_ = LineError{1, std::move(message)}; };
  const auto needs = [&](const char* name, const char* owner) {
    if (Has(name) && !Has(owner)) fail(fmt::format("\"{}\" needs \"{}\" beside it", name, owner));
  };
  needs("response", "prompt");
  needs("raw", "prompt");
  needs("add_generation_prompt", "messages");
  needs("chat_rendered", "token_ids");
  if (error_) return;
  if (inputs == 0) return fail(fmt::format("the object has no input; give {}", kInputs));
  if (inputs > 1)
    return fail(fmt::format("the object has {} inputs; give one of {}", inputs, kInputs));
  if (Has("text")) {
    *sample_.mutable_text() = std::move(text_);
  } else if (Has("prompt")) {
    *sample_.mutable_prompt_response() = std::move(prompt_response_);
  } else if (Has("messages")) {
    *sample_.mutable_chat() = std::move(chat_);
  } else {
    *sample_.mutable_token_ids() = std::move(token_ids_);
  }
}

}  // namespace

std::optional<LineError> ParseJsonlSample(std::string_view line, bool ignore_unknown_keys,
                                          v1::Sample& sample) {
  sample.Clear();
  if (const auto bad = FirstInvalidUtf8(line)) {
    const bool wide = line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF");
    return LineError{ColumnAt(line, *bad),
                     wide ? "the text is UTF-16; convert it to UTF-8"
                          : fmt::format("byte 0x{:02x} is not UTF-8; convert the text to UTF-8",
                                        static_cast<unsigned char>(line[*bad]))};
  }
  // nlohmann::json would take it for the end of the line.
  if (const size_t zero = line.find('\0'); zero != std::string_view::npos) {
    return LineError{ColumnAt(line, zero), "not JSON: a zero byte; convert the text to UTF-8"};
  }
  SampleHandler handler(line, ignore_unknown_keys, sample);
  if (json::sax_parse(line.begin(), line.end(), &handler)) handler.CheckWhole();
  if (handler.error()) return handler.error();
  if (auto problem = CheckSampleSize(sample)) return LineError{0, *std::move(problem)};
  return std::nullopt;
}

std::optional<std::string> CheckSampleSize(const v1::Sample& sample) {
  if (sample.sample_id().size() > kMaxIdBytes) {
    return fmt::format("the id has {} bytes; at most {} are allowed", sample.sample_id().size(),
                       kMaxIdBytes);
  }
  if (sample.ByteSizeLong() > client::kMaxSampleBytes) {
    return fmt::format("the sample has {} bytes; a message to the server holds at most {}",
                       sample.ByteSizeLong(), client::kMaxSampleBytes);
  }
  return std::nullopt;
}

}  // namespace sinkd::cli
