// Portrait: a sample's text and the norms of its states, kept whole for pictures.
// Thread-safety: pure functions.
#pragma once

#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

inline constexpr int64_t kPortraitColumns = 1024;

// Without token texts. A longer sample's positions share kPortraitColumns columns, each of which
// holds the largest norm of its positions, since a sink is one position among hundreds.
v1::Portrait DrawPortrait(const Trace& trace);

}  // namespace sinkd
