#include "server/analysis/portrait.h"

#include <algorithm>

namespace sinkd {

v1::Portrait DrawPortrait(const Trace& trace) {
  v1::Portrait portrait;
  const int64_t columns = std::min(trace.positions, kPortraitColumns);
  portrait.set_columns(static_cast<int32_t>(columns));
  for (int64_t l = 0; l < trace.layers; ++l) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t end = (c + 1) * trace.positions / columns;
      float largest = 0;
      for (int64_t t = c * trace.positions / columns; t < end; ++t) {
        largest = std::max(largest, trace.StateNorm(l, t));
      }
      portrait.add_state_norms(largest);
    }
  }
  return portrait;
}

}  // namespace sinkd
