// Sink detection: the primary sink with its window, and every later position that points the same
// way (definitions: Primary sink; Sinks and levels).
//
// Shapes: a Trace's [L, T] norms and [L, N, T] cosines. L >= 2, T >= 1 are the caller's duty
// (CheckTrace). Ties go to the lowest position or layer everywhere. Thresholds are compared as real
// numbers: a float32 cosine is widened, the threshold is not rounded to float32.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

// Layers [start, end) at which the primary sink shows.
struct Window {
  int32_t start = 0;
  int32_t end = 0;
};

struct Primary {
  int64_t position = 0;
  bool tied = false;  // a later candidate has as high a mean
};

// Means of the state norm within this, relative, count as equal: those of a doubled BOS differ by
// rounding.
inline constexpr double kEqualMeans = 1e-6;

// p0: of the first two positions (three when a chat template rendered the sample), the first one
// with the highest mean over layers of the state norm.
Primary FindPrimary(const Trace& trace, bool chat_rendered);

// From the largest rise of p0's norm to its largest fall after that; to the last layer when the
// rise is the last step. Never empty.
Window FindWindow(const Trace& trace, int64_t primary);

// `layers` is L, `window` the primary sink's. The thirds and sixths of the window rule are compared
// exactly, without division. The published rule means nothing at
// L <= kDeepestUnfit.
v1::SinkKind KindOf(v1::KindRule rule, Level level, Window window, int64_t layers);
inline constexpr int64_t kDeepestUnfit = 19;  // layers at or below which `published` is meaningless

// The primary sink as a Sink: its layers are the window, its margin |1 - threshold| (its cosine
// with itself is 1). Token and scores are not filled.
v1::Sink MakePrimary(const v1::DetectionParameters& parameters, const Trace& trace, int64_t primary,
                     Window window);

// Sinks at positions past `primary`, ascending, of every kind. Token and scores are not filled.
std::vector<v1::Sink> FindSinks(const v1::DetectionParameters& parameters, const Trace& trace,
                                int64_t primary, Window window);

}  // namespace sinkd
