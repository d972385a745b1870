// StreamPlan: everything about one Analyze stream that is fixed once its spec has been accepted.
//
// Ownership: shared by the stream and the samples under way; keeps the model in memory.
// Thread-safety: read only; executor streams are safe by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "server/access/principal.h"
#include "server/analysis/parameters.h"
#include "server/engine/trace.h"
#include "server/scheduler/device_pool.h"
#include "server/scheduler/executor.h"
#include "server/service/analyze/forward_group.h"
#include "server/service/analyze/forward_queue.h"
#include "server/service/models/model_catalog.h"
#include "server/service/runs/run_keeper.h"
#include "server/store/run_store.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/phase_times.h"

namespace sinkd {

// What the operator sets about streams.
struct StreamLimits {
  int64_t max_sample_tokens = 32768;
  int64_t read_ahead = 32;  // samples of a stream read and not yet wholly answered
  std::string template_date = "2025-01-01";
  std::chrono::milliseconds progress_interval{500};  // least time between two Progress messages
  std::string version;                               // of the server
};

// What all streams of a server share; borrowed.
struct StreamResources {
  ModelCatalog& catalog;
  DevicePool& devices;    // forward passes
  ForwardGroups& groups;  // of what may run in one
  Executor& cpu;          // encoding before, analysing after, summing up
  Metrics& metrics;
  RunStore* store = nullptr;    // null: no run is kept
  Executor* storing = nullptr;  // threads that may wait for the store; with it
};

struct StreamPlan {
  v1::AnalysisSpec spec;  // complete
  std::shared_ptr<const SampleRunner> runner;
  std::string arithmetic;                      // of the runner, for every record
  std::shared_ptr<const Principal> principal;  // whose tokens are counted; null: they are not
  std::shared_ptr<ForwardQueue> queue;         // to the model's device
  std::unique_ptr<Executor::Stream> cpu;
  std::unique_ptr<RunKeeper> keeper;          // null: the records are not kept
  std::unique_ptr<Executor::Stream> storing;  // one job at a time; with it
  std::stop_token stop;                       // the stream has ended
  Executor::Clock::time_point deadline;
  int64_t max_sample_tokens = 0;  // the server's limit
  Metrics& metrics;
  std::shared_ptr<PhaseTimes> phases;  // of the call
};

}  // namespace sinkd
