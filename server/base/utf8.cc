#include "server/base/utf8.h"

#include <cstdint>

namespace sinkd {
namespace {

// Length of the sequence that `lead` starts, 0 when it starts none, and the smallest code point
// that may be written in that many bytes.
struct Lead {
  int length;
  uint32_t minimum;
  uint32_t bits;
};

Lead ReadLead(unsigned char byte) {
  if (byte < 0x80) return {1, 0, byte};
  if ((byte & 0xE0) == 0xC0) return {2, 0x80, byte & 0x1Fu};
  if ((byte & 0xF0) == 0xE0) return {3, 0x800, byte & 0x0Fu};
  if ((byte & 0xF8) == 0xF0) return {4, 0x10000, byte & 0x07u};
  return {0, 0, 0};
}

}  // namespace

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Lead lead = ReadLead(static_cast<unsigned char>(text[i]));
    if (lead.length == 0 || i + static_cast<size_t>(lead.length) > text.size()) return i;
    uint32_t code = lead.bits;
    for (int k = 1; k < lead.length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if ((byte & 0xC0) != 0x80) return i;
      code = (code << 6) | (byte & 0x3Fu);
    }
    if (code < lead.minimum || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return i;
    i += static_cast<size_t>(lead.length);
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

}  // namespace sinkd
