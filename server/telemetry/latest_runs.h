// LatestRuns: what the latest run of each model found, as gauges labelled with the model.
//
// Series are bounded: there are at most kMostModels models, and the one whose run is the oldest
// goes when another comes. A statistic that a run lacks has no series, rather than that of an
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
  static constexpr size_t kStatistics = 4;

  struct Series {
    std::string model;
    std::array<prometheus::Gauge*, kStatistics> gauges{};  // null: the run lacks it
  };

  // Under the lock.
  void SetGauge(size_t statistic, Series& series, std::optional<double> value);
  Series& Newest(std::string_view model);  // its series, at the end of the list from now on

  std::array<prometheus::Family<prometheus::Gauge>*, kStatistics> families_{};
  std::mutex mutex_;
  std::list<Series> series_;  // the oldest run first
};

}  // namespace sinkd
