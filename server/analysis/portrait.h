// Portrait: a sample's text and the norms of its states, kept whole for pictures.
// Thread-safety: pure functions.
#pragma once

#include <absl/status/status.h>

#include "server/analysis/records.h"
#include "server/engine/trace.h"

namespace sinkd {

inline constexpr int64_t kPortraitColumns = 1024;

// Without token texts. A longer sample's positions share kPortraitColumns columns, each of which
// holds the largest norm of its positions, since a sink is one position among hundreds.
v1::Portrait DrawPortrait(const Trace& trace);

// The portrait of a record, if it has one (record_part.h).
absl::Status CheckPortrait(const v1::SampleRecord& record);

}  // namespace sinkd
