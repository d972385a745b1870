// SparseLog: a rate-limited log line for an event that can occur thousands of times per second.
//
// Thread-safety: all methods may be called from any thread. Errors: as Log.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <string_view>

#include "server/telemetry/log.h"

namespace sinkd {

class SparseLog {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SparseLog(std::chrono::seconds between) : between_(between) {}

  // Writes a line, unless the last one was less than `between` ago. Its field "times" is the number
  // of calls since then.
  void Note(LogLevel level, std::string_view message, std::span<const LogField> fields,
            Clock::time_point now = Clock::now());
  void Note(LogLevel level, std::string_view message, std::initializer_list<LogField> fields,
            Clock::time_point now = Clock::now()) {
    Note(level, message, std::span<const LogField>(fields.begin(), fields.size()), now);
  }

 private:
  const std::chrono::seconds between_;
  std::mutex mutex_;
  int64_t times_ = 0;
  Clock::time_point next_{};
};

}  // namespace sinkd
