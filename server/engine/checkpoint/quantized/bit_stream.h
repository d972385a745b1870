// Integers of a few bits, packed without gaps from the lowest bit of 32-bit words; an integer may
// span two words.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace sinkd {

// Number of words that hold `count` integers of `bits` bits.
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

inline constexpr int64_t kMostPerWord = 32;

// The first `count` integers; up to kMostPerWord more may be written.
inline void UnpackBits(const uint32_t* words, int64_t count, int64_t bits, int32_t* values) {
  if (32 % bits != 0) {
    for (int64_t k = 0; k < count; ++k) values[k] = static_cast<int32_t>(BitsAt(words, 1, k, bits));
    return;
  }
  const int64_t per_word = 32 / bits;
  const uint32_t mask = bits == 32 ? ~uint32_t{0} : (uint32_t{1} << bits) - 1;
  for (int64_t w = 0; w < WordsOf(count, bits); ++w) {
    for (int64_t j = 0; j < per_word; ++j) {
      values[w * per_word + j] = static_cast<int32_t>(words[w] >> (j * bits) & mask);
    }
  }
}

}  // namespace sinkd
