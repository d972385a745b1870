#include "client/cli/terminal/text_width.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

#include <locale.h>

#include <absl/strings/ascii.h>

#include "client/error_report.h"
#include "server/base/utf8.h"

namespace sinkd::cli {
namespace {

// wcwidth answers for the thread's locale; C.UTF-8 is built into the C library.
int CodePointWidth(uint32_t code) {
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (code < 0x7F) return code < 0x20 ? 0 : 1;
  if (kUtf8 == nullptr) return 1;
  const locale_t before = uselocale(kUtf8);
  const int width = wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return width < 0 ? 1 : width;
}

// Bytes at the front of `text` that take at most `width` columns.
size_t EndOfColumns(std::string_view text, int width) {
  int used = 0;
  size_t end = 0;
  while (end < text.size()) {
    const CodePoint point = ReadCodePoint(text.substr(end));
    used += point.valid ? CodePointWidth(point.code) : 1;
    if (used > width) break;
    end += point.bytes;
  }
  return end;
}

// The front of a word that is wider than `width`: at least one character.
std::string_view Front(std::string_view word, int width) {
  const size_t end = EndOfColumns(word, width);
  return word.substr(0, end > 0 ? end : ReadCodePoint(word).bytes);
}

// Where a word may be broken: the bytes before its last '.' or up to its last '-'; 0: nowhere.
size_t LastJoint(std::string_view word) {
  const size_t joint = word.find_last_of(".-");
  if (joint == std::string_view::npos) return 0;
  return word[joint] == '-' ? joint + 1 : joint;
}

// Quotes and backslashes of a token are escaped, so that the quoted text reads one way only.
std::string EscapeToken(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return client::MakePrintable(escaped);
}

// Columns of a text with escape sequences, which end in a letter.
int VisibleWidth(std::string_view text) {
  int width = DisplayWidth(text);
  for (size_t begin = 0; (begin = text.find('\x1b', begin)) != std::string_view::npos;) {
    const auto letter = [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); };
    const auto last =
        std::find_if(text.begin() + static_cast<ptrdiff_t>(begin), text.end(), letter);
    const size_t end = std::min(static_cast<size_t>(last - text.begin()) + 1, text.size());
    width -= DisplayWidth(text.substr(begin, end - begin));
    begin = end;
  }
  return width;
}

std::string FoldLine(std::string_view line, int width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string below(indent + 2, ' ');
  std::string folded(line.substr(0, indent));
  int used = static_cast<int>(indent);
  for (size_t at = indent; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const int columns = VisibleWidth(word);
    if (at > indent && used + 1 + columns > width) {
      folded.erase(folded.find_last_not_of(' ') + 1);
      folded += '\n' + below;
      used = static_cast<int>(below.size());
    } else if (at > indent) {
      folded += ' ';
      ++used;
    }
    folded += word;
    used += columns;
    at = end + 1;
  }
  return folded;
}

}  // namespace

std::string FoldLines(std::string_view text, int width) {
  std::string folded;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    folded += VisibleWidth(line) <= width ? std::string(line) : FoldLine(line, width);
    if (end == std::string_view::npos) break;
    folded += '\n';
    text.remove_prefix(end + 1);
  }
  return folded;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = ReadCodePoint(text.substr(i));
    width += point.valid ? CodePointWidth(point.code) : 1;
    i += point.bytes;
  }
  return width;
}

std::vector<std::string> WrapToWidth(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const bool joins =
        lines.back().empty() || DisplayWidth(lines.back()) + 1 + DisplayWidth(word) <= width;
    if (!joins) lines.emplace_back();
    while (DisplayWidth(word) > width) {
      std::string_view front = Front(word, width);
      if (const size_t joint = LastJoint(front); joint > 0) front = front.substr(0, joint);
      lines.back() += front;
      word.remove_prefix(front.size());
      if (!word.empty()) lines.emplace_back();
    }
    if (!lines.back().empty() && !word.empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string ShortenToWidth(std::string_view text, int width, bool unicode) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "..";
  const size_t end = EndOfColumns(text, width - DisplayWidth(ellipsis));
  return std::string(text.substr(0, end)).append(ellipsis);
}

std::string QuoteToken(std::string_view text, int width, bool unicode) {
  // Nothing past the cut is shown, so nothing past it needs escaping.
  const std::string_view front = CutUtf8(text, static_cast<size_t>(width) * 8);
  return '"' + ShortenToWidth(EscapeToken(front), width - 2, unicode) + '"';
}

std::string Pad(std::string_view text, int width, bool right) {
  const int missing = width - DisplayWidth(text);
  const std::string blanks(missing > 0 ? static_cast<size_t>(missing) : 0, ' ');
  return right ? blanks + std::string(text) : std::string(text) + blanks;
}

}  // namespace sinkd::cli
