#include "server/service/calls/call_deadline.h"

namespace sinkd {

Executor::Clock::time_point DeadlineOf(std::chrono::system_clock::time_point deadline) {
  using Clock = Executor::Clock;
  constexpr std::chrono::hours kForever{24 * 365 * 100};
  const auto left = deadline - std::chrono::system_clock::now();
  return left > kForever ? Clock::time_point::max() : Clock::now() + left;
}

}  // namespace sinkd
