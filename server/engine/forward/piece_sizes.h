// Sizes of the pieces that a pass is cut into, so that what lies between two products stays small.
// Internal to the engine.
#pragma once

#include <cstdint>

namespace sinkd {

// Rows of a group of samples: enough for matrix products to run at full speed.
inline constexpr int64_t kGroupRows = 2048;

// Rows of the MLP computed at once, so that gate and up do not dominate memory on long samples.
// More where they are never held (FusesUnits), which takes no more memory.
inline constexpr int64_t kMlpRows = 512;
inline constexpr int64_t kFusedMlpRows = 1024;

// Units of an MLP whose bfloat16 weights are widened at once.
inline constexpr int64_t kWideUnits = 2048;

// Scores of one strip of attention stay near the caches: heads x queries x keys elements at most,
// but never fewer queries than kMinQueries.
inline constexpr int64_t kStripElements = int64_t{1} << 20;

// Samples from here on take their key heads one by one, each a product for Linear; shorter ones all
// key heads together, since there the number of calls counts.
inline constexpr int64_t kLongSample = 256;
inline constexpr int64_t kShortStripElements = int64_t{1} << 18;
inline constexpr int64_t kMinQueries = 32;
inline constexpr int64_t kMaxQueries = 256;

}  // namespace sinkd
