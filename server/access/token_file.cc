#include "server/access/token_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kDigestDigits = 64;
constexpr int64_t kMostPerMinute = int64_t{1} << 40;
constexpr double kLeastWeight = 0.01;
constexpr double kMostWeight = 100;
constexpr std::string_view kSpaces = " \t\r";

// The next word of `line`, which loses it; empty at its end.
std::string_view NextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpaces));
  line.remove_prefix(word.size());
  return word;
}

bool IsName(std::string_view word) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !word.empty() && word.size() <= kMaxNameBytes && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end(),
                     [&](char c) { return is_letter(c) || c == '.' || c == '_' || c == '-'; });
}

bool IsDigest(std::string_view word) {
  return word.size() == kDigestDigits &&
         word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, Number minimum, Number maximum) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= minimum && number <= maximum)) return std::nullopt;
  return number;
}

// One line of the file.
class LineReader {
 public:
  LineReader(std::string_view line, std::string_view file, int number)
      : rest_(line), file_(file), number_(number) {}

  absl::StatusOr<TokenEntry> Read() {
    TokenEntry entry;
    entry.name = NextWord(rest_);
    // A word at the wrong place may be a secret, so it is not repeated.
    if (!IsName(entry.name)) {
      return Fail(
          "a name is 1 to 64 letters, digits, '.', '_' or '-', the first one a letter or "
          "digit");
    }
    const std::optional<Role> role = ParseRole(NextWord(rest_));
    if (!role) return Fail("the second word is the role: read, analyse or admin");
    entry.role = *role;
    entry.digest = NextWord(rest_);
    if (!IsDigest(entry.digest)) {
      return Fail(
          "the third word is the token's SHA-256, 64 lower-case hexadecimal digits, as "
          "`sinkctl token new` prints it");
    }
    for (std::string_view word = NextWord(rest_); !word.empty(); word = NextWord(rest_)) {
      SINKD_RETURN_IF_ERROR(TakeSetting(word, entry));
    }
    return entry;
  }

  absl::Status Fail(std::string_view what) const {
    return InvalidArgument(StrCat(file_, ":", number_, ": ", what),
                           {.reason = "TOKEN_FILE_INVALID",
                            .subject = StrCat(file_, ":", number_),
                            .fix = "write NAME ROLE SHA256, then settings such as streams=4"});
  }

 private:
  absl::Status TakeSetting(std::string_view word, TokenEntry& entry) {
    const size_t sign = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, sign);
    const std::string_view value = word.substr(std::min(sign + 1, word.size()));
    if (key == "weight") {
      const auto weight = ParseNumber<double>(value, kLeastWeight, kMostWeight);
      if (!weight) return Fail("weight is a number from 0.01 to 100");
      entry.weight = *weight;
      return absl::OkStatus();
    }
    std::optional<int64_t>* const quota =
        key == "requests-per-minute" ? &entry.quotas.requests_per_minute
        : key == "tokens-per-minute" ? &entry.quotas.tokens_per_minute
        : key == "streams"           ? &entry.quotas.streams
                                     : nullptr;
    if (quota == nullptr) {
      return Fail(
          "settings are requests-per-minute, tokens-per-minute, streams and weight, each "
          "with = and a number");
    }
    if (quota->has_value()) return Fail(StrCat(key, " is given twice"));
    *quota = ParseNumber<int64_t>(value, 1, kMostPerMinute);
    if (!*quota) return Fail(StrCat(key, " is a whole number from 1 to ", kMostPerMinute));
    return absl::OkStatus();
  }

  std::string_view rest_;
  const std::string_view file_;
  const int number_;
};

}  // namespace

absl::StatusOr<std::vector<TokenEntry>> ParseTokenFile(std::string_view text,
                                                       std::string_view file) {
  std::vector<TokenEntry> entries;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(kSpaces) == std::string_view::npos) continue;
    LineReader reader(line, file, number);
    SINKD_ASSIGN_OR_RETURN(TokenEntry entry, reader.Read());
    for (const TokenEntry& other : entries) {
      if (other.digest == entry.digest) return reader.Fail("this token has a line already");
      const bool agrees =
          other.role == entry.role && other.quotas == entry.quotas && other.weight == entry.weight;
      if (other.name == entry.name && !agrees) {
        return reader.Fail(
            StrCat(entry.name, " has a line already, with another role or other settings"));
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace sinkd
