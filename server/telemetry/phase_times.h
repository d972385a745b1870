// PhaseTimes: the time that one call spends in each phase, summed over its samples. It also counts
// in the metrics of all calls.
//
// Ownership: borrows `metrics`. Thread-safety: all methods may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "server/telemetry/log.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

class PhaseTimes {
 public:
  using Duration = std::chrono::duration<double>;

  explicit PhaseTimes(Metrics& metrics) : metrics_(metrics) {}

  void Add(SamplePhase phase, Duration took);

  // "queue_seconds" and so on, for phases that took any time.
  std::vector<LogField> Fields() const;

 private:
  Metrics& metrics_;
  std::array<std::atomic<int64_t>, kSamplePhases> nanoseconds_{};
};

}  // namespace sinkd
