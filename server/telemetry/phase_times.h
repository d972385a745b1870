// PhaseTimes: where the time of one call goes, summed over its samples. What is added here counts
// in the metrics of all calls too.
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

  // "queue_seconds" and so on, of the phases that took any time.
  std::vector<LogField> Fields() const;

 private:
  Metrics& metrics_;
  std::array<std::atomic<int64_t>, kSamplePhases> nanoseconds_{};
};

}  // namespace sinkd
