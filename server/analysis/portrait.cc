#include "server/analysis/portrait.h"

#include <algorithm>

namespace sinkd {

Portrait DrawPortrait(const Trace& trace) {
  Portrait portrait{.columns = std::min(trace.positions, kPortraitColumns)};
  for (int64_t l = 0; l < trace.layers; ++l) {
    for (int64_t c = 0; c < portrait.columns; ++c) {
      const int64_t end = (c + 1) * trace.positions / portrait.columns;
      float largest = 0;
      for (int64_t t = c * trace.positions / portrait.columns; t < end; ++t) {
        largest = std::max(largest, trace.StateNorm(l, t));
      }
      portrait.state_norms.push_back(largest);
    }
  }
  return portrait;
}

}  // namespace sinkd
