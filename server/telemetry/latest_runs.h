// LatestRuns: results of the latest run of each model, as gauges with the model as label.
//
// The number of series is bounded: at most kMostModels models, and a new one replaces the model
// with the oldest run. A statistic that a run lacks has no series, instead of the value of an
// earlier run or 0.
//
// Ownership: the registry is borrowed. Thread-safety: all methods may be called from any thread.
#pragma once

#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/telemetry/metrics.h"

namespace sinkd {

class LatestRuns {
 public:
  static constexpr size_t kMostModels = 100;

  explicit LatestRuns(prometheus::Registry& registry);

  void Set(std::string_view model, const RunGauges& run);

 private:
  static constexpr size_t kStatistics = 7;

  struct Series {
    std::string model;
    std::array<prometheus::Gauge*, kStatistics> gauges{};  // null: not in the run
  };

  // Under the lock.
  void SetGauge(size_t statistic, Series& series, std::optional<double> value);
  Series& Newest(std::string_view model);  // its series, moved to the end of the list

  std::array<prometheus::Family<prometheus::Gauge>*, kStatistics> families_{};
  std::mutex mutex_;
  std::list<Series> series_;  // the oldest run first
};

}  // namespace sinkd
