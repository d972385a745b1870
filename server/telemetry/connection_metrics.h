// ConnectionMetrics: the connections of both ports. Part of Metrics.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace sinkd {

class ConnectionMetrics {
 public:
  explicit ConnectionMetrics(prometheus::Registry& registry);

  void SetOpen(std::string_view port, int64_t count);
  void Refused(std::string_view port, std::string_view reason);

 private:
  struct Port {
    prometheus::Gauge* open = nullptr;
    std::map<std::string, prometheus::Counter*, std::less<>> refused;  // by reason
  };
  std::map<std::string, Port, std::less<>> ports_;
};

}  // namespace sinkd
