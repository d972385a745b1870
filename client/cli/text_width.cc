#include "client/cli/text_width.h"

#include <clocale>
#include <cwchar>

#include <locale.h>

#include "client/error_report.h"
#include "client/utf8.h"

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

// Quotes and backslashes of a token are escaped, so that the quoted text reads one way only.
std::string EscapeToken(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return client::MakePrintable(escaped);
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    const client::CodePoint point = client::ReadCodePoint(text.substr(i));
    width += point.valid ? CodePointWidth(point.code) : 1;
    i += point.bytes;
  }
  return width;
}

std::string ShortenToWidth(std::string_view text, int width, bool unicode) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "..";
  const int room = width - DisplayWidth(ellipsis);
  std::string result;
  int used = 0;
  for (size_t i = 0; i < text.size();) {
    const client::CodePoint point = client::ReadCodePoint(text.substr(i));
    used += point.valid ? CodePointWidth(point.code) : 1;
    if (used > room) break;
    result += text.substr(i, point.bytes);
    i += point.bytes;
  }
  return result.append(ellipsis);
}

std::string QuoteToken(std::string_view text, int width, bool unicode) {
  // Nothing past the cut is shown, so nothing past it needs escaping.
  const std::string_view front = client::CutUtf8(text, static_cast<size_t>(width) * 8);
  return '"' + ShortenToWidth(EscapeToken(front), width - 2, unicode) + '"';
}

std::string Pad(std::string_view text, int width, bool right) {
  const int missing = width - DisplayWidth(text);
  const std::string blanks(missing > 0 ? static_cast<size_t>(missing) : 0, ' ');
  return right ? blanks + std::string(text) : std::string(text) + blanks;
}

}  // namespace sinkd::cli
