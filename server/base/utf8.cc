#include "server/base/utf8.h"

namespace sinkd {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

}  // namespace

CodePoint ReadCodePoint(std::string_view text) {
  const uint32_t lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const CodePoint invalid{lead, 1, false};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return invalid;
  uint32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return invalid;
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return invalid;
  return {code, length, true};
}

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = ReadCodePoint(text.substr(i));
    if (!point.valid) return i;
    i += point.bytes;
  }
  return std::nullopt;
}

std::string RepairUtf8(std::string_view text) {
  std::string repaired;
  while (true) {
    const std::optional<size_t> bad = FirstInvalidUtf8(text);
    repaired += text.substr(0, bad.value_or(text.size()));
    if (!bad) return repaired;
    repaired += "\xEF\xBF\xBD";
    text.remove_prefix(*bad + 1);
  }
}

std::string_view CutUtf8(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && IsContinuation(text[limit])) --limit;
  return text.substr(0, limit);
}

bool IsInvisible(uint32_t code) {
  return code == 0xAD || code == 0x61C || code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE ||
         (code >= 0xE0000 && code <= 0xE007F);
}

}  // namespace sinkd
