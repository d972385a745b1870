// UTF-8 in text from outside.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinkd {

// One code point and its length. `valid` is false for a byte that does not start a valid sequence
// (`bytes` is then 1 and `code` that byte). Overlong forms, surrogates and values above U+10FFFF
// are invalid.
struct CodePoint {
  uint32_t code = 0;
  size_t bytes = 0;
  bool valid = false;
};

// The code point at the front of `text`, which must not be empty.
CodePoint ReadCodePoint(std::string_view text);

// The byte offset of the first invalid sequence; nullopt when `text` is valid.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// `text` with every invalid byte replaced by U+FFFD.
std::string RepairUtf8(std::string_view text);

// `text` truncated to at most `limit` bytes, never inside a code point.
std::string_view CutUtf8(std::string_view text, size_t limit);

// Code points that are invisible or reorder the text around them: soft hyphen, zero-width
// characters, line separators, direction marks, byte order mark, tags; and noncharacters, which XML
// forbids.
bool IsInvisible(uint32_t code);

}  // namespace sinkd
