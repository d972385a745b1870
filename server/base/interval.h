// Interval: the bounds of a value, both included.
#pragma once

namespace sinkd {

struct Interval {
  double lower = 0;
  double upper = 0;
};

}  // namespace sinkd
