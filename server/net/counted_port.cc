#include "server/net/counted_port.h"

#include <utility>

namespace sinkd {
namespace {

const char* ReasonOf(ConnectionRefusal why) {
  switch (why) {
    case ConnectionRefusal::kConnections:
      return "connections";
    case ConnectionRefusal::kAddress:
      return "address";
    case ConnectionRefusal::kFrames:
      return "frames";
    case ConnectionRefusal::kDescriptors:
      break;
  }
  return "descriptors";
}

}  // namespace

PortOptions CountedPort(std::string name, ConnectionLimits limits, Metrics& metrics) {
  return {.name = name,
          .limits = limits,
          .refused = [&metrics, name](
                         ConnectionRefusal why) { metrics.ConnectionRefused(name, ReasonOf(why)); },
          .open = [&metrics, name](int64_t open) { metrics.SetConnections(name, open); }};
}

}  // namespace sinkd
