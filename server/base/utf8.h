// UTF-8 in text that came from outside.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinkd {

// One code point and the bytes it takes; `valid` is false for a byte that starts no valid sequence
// (then `bytes` is 1 and `code` that byte). Overlong forms, surrogates and values past U+10FFFF are
// invalid.
struct CodePoint {
  uint32_t code = 0;
  size_t bytes = 0;
  bool valid = false;
};

// The code point at the front of `text`, which must not be empty.
CodePoint ReadCodePoint(std::string_view text);

// The byte offset of the first invalid sequence; nullopt when `text` is valid.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// `text` with every byte that is not UTF-8 replaced by U+FFFD.
std::string RepairUtf8(std::string_view text);

// `text` cut to at most `limit` bytes, never inside a code point.
std::string_view CutUtf8(std::string_view text, size_t limit);

// Code points that show nothing or reorder their surroundings: soft hyphen, zero-width characters,
// direction marks, byte order mark.
bool IsInvisible(uint32_t code);

}  // namespace sinkd
