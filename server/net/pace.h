// Pace: a rate limit that delays instead of refusing: so many per second, after a burst of so many.
//
// Take always succeeds and returns how long to wait, so that several users of one pace wait their
// turn. (The generic cell rate algorithm, as virtual scheduling.)
//
// Thread-safety: none. Errors: none.
#pragma once

#include <algorithm>
#include <chrono>

namespace sinkd {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  Pace(double per_second, double at_once)
      : each_(1 / per_second), slack_(Duration(at_once / per_second)) {}

  // How long to wait after taking `count`.
  Clock::duration Take(double count, Clock::time_point now) {
    paid_until_ = std::max(paid_until_, now) +
                  std::chrono::duration_cast<Clock::duration>(Duration(count * each_));
    return std::max(paid_until_ - now - std::chrono::duration_cast<Clock::duration>(slack_),
                    Clock::duration::zero());
  }

  // Whether a full burst is available again.
  bool IsRested(Clock::time_point now) const { return paid_until_ <= now; }

 private:
  using Duration = std::chrono::duration<double>;

  double each_;  // seconds
  Duration slack_;
  Clock::time_point paid_until_{};
};

}  // namespace sinkd
