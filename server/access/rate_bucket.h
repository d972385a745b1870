// RateBucket: so many per minute, a minute's worth at once.
//
// What is taken may be more than is left, which is then owed: so that something larger than a
// minute's worth can be had at all. Nothing is given as long as something is owed.
//
// Thread-safety: none. Errors: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace sinkd {

class RateBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Takes `count` of `per_minute`; else how long until the same would be given. The rate may differ
  // from call to call.
  std::optional<std::chrono::milliseconds> Take(int64_t count, int64_t per_minute, TimePoint now);

 private:
  double left_ = 0;
  std::optional<TimePoint> filled_;  // nullopt: full
};

}  // namespace sinkd
