// RateBucket: a rate per minute, with bursts of up to one minute's worth.
//
// A caller may take more than is left and then owes the rest, so that requests larger than a
// minute's worth are possible. Nothing more is granted until the debt is paid.
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

  // Takes `count` at a rate of `per_minute`, or returns how long until that would be granted. The
  // rate may differ from call to call.
  std::optional<std::chrono::milliseconds> Take(int64_t count, int64_t per_minute, TimePoint now);

 private:
  double left_ = 0;
  std::optional<TimePoint> filled_;  // nullopt: full
};

}  // namespace sinkd
