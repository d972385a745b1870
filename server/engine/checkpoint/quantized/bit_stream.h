// Integers of a few bits, one after the other from the lowest bit of 32-bit words on; one may begin
// in one word and end in the next.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace sinkd {

// Words that `count` integers of `bits` bits take.
inline int64_t WordsOf(int64_t count, int64_t bits) {
  return (count * bits + 31) / 32;
}

// Integer `index` of a stream whose words are `stride` apart.
inline uint32_t BitsAt(const uint32_t* words, int64_t stride, int64_t index, int64_t bits) {
  const int64_t bit = index * bits;
  const uint32_t* word = words + bit / 32 * stride;
  const int64_t shift = bit % 32;
  uint64_t value = word[0];
  if (shift + bits > 32) value |= uint64_t{word[stride]} << 32;
  return static_cast<uint32_t>(value >> shift) & ((uint32_t{1} << bits) - 1);
}

}  // namespace sinkd
