#include "server/telemetry/sparse_log.h"

#include <utility>
#include <vector>

namespace sinkd {

void SparseLog::Note(LogLevel level, std::string_view message, std::span<const LogField> fields,
                     Clock::time_point now) {
  int64_t times = 0;
  {
    const std::lock_guard lock(mutex_);
    ++times_;
    if (now < next_) return;
    next_ = now + between_;
    times = std::exchange(times_, 0);
  }
  std::vector<LogField> all(fields.begin(), fields.end());
  all.emplace_back("times", times);
  Log(level, message, all);
}

}  // namespace sinkd
