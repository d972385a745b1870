#include "server/telemetry/connection_metrics.h"

namespace sinkd {

ConnectionMetrics::ConnectionMetrics(prometheus::Registry& registry) {
  auto& open = prometheus::BuildGauge()
                   .Name("sinkd_connections")
                   .Help("Open connections, by port.")
                   .Register(registry);
  auto& refused =
      prometheus::BuildCounter()
          .Name("sinkd_connections_refused_total")
          .Help(
              "Connections that sinkd closed, by port and reason: too many connections in all or "
              "of an address, no file descriptor left, or HTTP/2 frames beyond the limits.")
          .Register(registry);
  for (const char* name : {"grpc", "http"}) {
    Port& port = ports_[name];
    port.open = &open.Add({{"port", name}});
    for (const char* reason : {"connections", "address", "descriptors", "frames"}) {
      port.refused[reason] = &refused.Add({{"port", name}, {"reason", reason}});
    }
  }
}

void ConnectionMetrics::SetOpen(std::string_view port, int64_t count) {
  const auto found = ports_.find(port);
  if (found != ports_.end()) found->second.open->Set(static_cast<double>(count));
}

void ConnectionMetrics::Refused(std::string_view port, std::string_view reason) {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return;
  const auto counter = found->second.refused.find(reason);
  if (counter != found->second.refused.end()) counter->second->Increment();
}

}  // namespace sinkd
