#include "server/config/config_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

bool IsKeyPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool IsWordPart(char c) {
  return IsKeyPart(c) || c == '.' || c == '+' || c == ':' || c == '/';
}

// Reads a file from front to back; every method leaves the position behind what it took.
class FileParser {
 public:
  FileParser(std::string_view text, std::string_view file_name) : text_(text), file_(file_name) {}

  absl::StatusOr<ConfigFile> Parse() {
    ConfigFile values;
    for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
      SINKD_ASSIGN_OR_RETURN(const std::string key, Key());
      if (values.contains(key)) return Fail("this key is given twice", key, "keep one of them");
      SINKD_ASSIGN_OR_RETURN(values[key], Value());
      SkipSpaces();
      if (at_ < text_.size() && text_[at_] != '\n') {
        return Fail("nothing may follow a value on its line", Rest(), "put it on its own line");
      }
    }
    return values;
  }

 private:
  absl::Status Fail(std::string_view what, std::string_view value, std::string_view fix) const {
    return InvalidArgument(fmt::format("{}, line {}: {}", file_, line_, what),
                           {.reason = "CONFIG_FILE_INVALID",
                            .subject = fmt::format("{}:{}", file_, line_),
                            .value = std::string(value),
                            .fix = std::string(fix)});
  }

  std::string_view Rest() const { return text_.substr(at_, text_.find('\n', at_) - at_); }
  bool Next(char c) const { return at_ < text_.size() && text_[at_] == c; }

  void SkipSpaces() {
    while (Next(' ') || Next('\t') || Next('\r')) ++at_;
    if (Next('#')) at_ = std::min(text_.find('\n', at_), text_.size());
  }

  // Spaces, comments and line ends.
  void SkipBlank() {
    for (SkipSpaces(); Next('\n'); SkipSpaces()) {
      ++at_;
      ++line_;
    }
  }

  absl::StatusOr<std::string> Key() {
    if (Next('[')) {
      return Fail("sections are not known here", Rest(), "write all keys without a section");
    }
    const size_t begin = at_;
    while (at_ < text_.size() && IsKeyPart(text_[at_])) ++at_;
    const std::string key(text_.substr(begin, at_ - begin));
    SkipSpaces();
    if (key.empty() || !Next('=')) {
      at_ = begin;
      return Fail("a line must read key = value", Rest(), "write for example: threads = 2");
    }
    ++at_;
    SkipSpaces();
    return key;
  }

  absl::StatusOr<std::vector<std::string>> Value() {
    std::vector<std::string> values;
    if (!Next('[')) {
      SINKD_ASSIGN_OR_RETURN(std::string value, Scalar());
      values.push_back(std::move(value));
      return values;
    }
    ++at_;
    for (SkipBlank(); !Next(']'); SkipBlank()) {
      SINKD_ASSIGN_OR_RETURN(std::string value, Scalar());
      values.push_back(std::move(value));
      SkipBlank();
      if (Next(',')) {
        ++at_;
      } else if (!Next(']')) {
        return Fail("an array needs a comma between values and ']' at its end", Rest(),
                    "write for example: load = [\"a\", \"b\"]");
      }
    }
    ++at_;
    return values;
  }

  absl::StatusOr<std::string> Scalar() {
    if (Next('\'')) return Literal();
    if (Next('"')) return Basic();
    const size_t begin = at_;
    while (at_ < text_.size() && IsWordPart(text_[at_])) ++at_;
    if (at_ == begin) return Fail("a value is missing or needs quotes", Rest(), "quote it");
    return std::string(text_.substr(begin, at_ - begin));
  }

  absl::StatusOr<std::string> Literal() {
    const size_t end = text_.find_first_of("'\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n') return Unclosed();
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  absl::StatusOr<std::string> Basic() {
    const size_t begin = at_++;
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      char c = text_[at_++];
      if (c == '\\') {
        const std::optional<char> escaped = Escape();
        if (!escaped) {
          return Fail("only \\\" \\\\ \\n \\t and \\r are known", Rest(),
                      "write the string in single quotes");
        }
        c = *escaped;
      }
      value += c;
    }
    if (!Next('"')) {
      at_ = begin;
      return Unclosed();
    }
    ++at_;
    return value;
  }

  std::optional<char> Escape() {
    static constexpr std::string_view kLetters = "\"\\ntr";
    static constexpr std::string_view kMeanings = "\"\\\n\t\r";
    const size_t which = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) return std::nullopt;
    ++at_;
    return kMeanings[which];
  }

  absl::Status Unclosed() const {
    return Fail("a string is not closed on its line", Rest(), "close its quote");
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

absl::StatusOr<ConfigFile> ParseConfigFile(std::string_view text, std::string_view file_name) {
  return FileParser(text, file_name).Parse();
}

absl::StatusOr<ConfigFile> ReadConfigFile(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::error_code error;
  if (stream && !std::filesystem::is_directory(file, error)) {
    text.resize(kMaxFileBytes + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof() && text.size() <= kMaxFileBytes) {
    return NotFound(fmt::format("the configuration file cannot be read{}{}", errno == 0 ? "" : ": ",
                                errno == 0 ? "" : std::strerror(errno)),
                    {.reason = "CONFIG_FILE_UNREADABLE",
                     .subject = "--config",
                     .value = file.string(),
                     .fix = "name a file that this user can read"});
  }
  if (text.size() > kMaxFileBytes) {
    return InvalidArgument("a configuration file is at most 1 MiB",
                           {.reason = "CONFIG_FILE_INVALID",
                            .subject = "--config",
                            .value = file.string(),
                            .fix = "name a configuration file"});
  }
  return ParseConfigFile(text, file.string());
}

std::string QuoteToml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        quoted += '\\';
        quoted += c;
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace sinkd
