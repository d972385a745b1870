// ServerStatus: what a server is doing, gathered from its parts into the protocol's message.
//
// Thread-safety: pure functions over shared resources.
#pragma once

#include <chrono>
#include <string>

#include "server/scheduler/device_pool.h"
#include "server/service/calls/admission.h"
#include "server/service/health_service.h"
#include "server/service/models/model_catalog.h"
#include "server/telemetry/metrics.h"
#include "sinks/v1/server.pb.h"

namespace sinkd {

// Borrowed.
struct StatusSources {
  const std::string& version;
  std::chrono::system_clock::time_point start;
  const ModelCatalog& catalog;
  const Admission& admission;
  const DevicePool& devices;
  const HealthService& health;
  const Metrics& metrics;
};

sinks::v1::ServerStatus GatherStatus(const StatusSources& sources);

}  // namespace sinkd
