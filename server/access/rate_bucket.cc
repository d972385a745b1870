#include "server/access/rate_bucket.h"

#include <algorithm>
#include <cmath>

namespace sinkd {

std::optional<std::chrono::milliseconds> RateBucket::Take(int64_t count, int64_t per_minute,
                                                          TimePoint now) {
  using Minutes = std::chrono::duration<double, std::ratio<60>>;
  const auto rate = static_cast<double>(per_minute);
  const double grown = filled_ ? left_ + rate * Minutes(now - *filled_).count() : rate;
  left_ = std::min(grown, rate);
  filled_ = now;
  if (left_ < 1) {
    // A rounding error of a nanosecond must not become a wait of a millisecond.
    const auto wait = std::chrono::round<std::chrono::nanoseconds>(Minutes((1 - left_) / rate));
    return std::chrono::ceil<std::chrono::milliseconds>(wait - std::chrono::nanoseconds(1));
  }
  left_ -= static_cast<double>(count);
  return std::nullopt;
}

}  // namespace sinkd
