// LaneMetrics: samples that wait for devices, by lane. Part of Metrics.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace sinkd {

// `lane` is "interactive" or "batch".
class LaneMetrics {
 public:
  explicit LaneMetrics(prometheus::Registry& registry);

  // The number of samples admitted and not yet running changed by this.
  void DepthChanged(std::string_view lane, int64_t samples);

  // A sample started after this wait.
  void Waited(std::string_view lane, std::chrono::duration<double> time);

 private:
  struct Lane {
    prometheus::Gauge* depth = nullptr;
    prometheus::Histogram* wait = nullptr;
  };
  std::map<std::string, Lane, std::less<>> lanes_;
};

}  // namespace sinkd
