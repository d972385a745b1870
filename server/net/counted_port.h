// A port whose connections are counted in the metrics.
#pragma once

#include <string>

#include "server/net/accept_loop.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

// `name` is "grpc" or "http". Borrows `metrics`.
PortOptions CountedPort(std::string name, ConnectionLimits limits, Metrics& metrics);

}  // namespace sinkd
