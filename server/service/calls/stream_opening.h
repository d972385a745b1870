// StreamOpening: turns a spec into a StreamPlan and into the response that describes it.
//
// Thread-safety: pure functions over shared resources.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <absl/status/statusor.h>

#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/caller.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

// A loaded model that can have sinks. Errors: see Analyze in the proto.
absl::StatusOr<std::shared_ptr<const SampleRunner>> AcquireModel(const ModelCatalog& catalog,
                                                                 const std::string& id);

// Checks the spec, acquires its model and reserves slots in the queues. Errors: see Analyze in the
// proto.
absl::StatusOr<std::shared_ptr<const StreamPlan>> OpenStream(
    const sinks::v1::AnalysisSpec& proto, const StreamResources& resources,
    const StreamLimits& limits, const Caller& caller, Executor::Clock::time_point deadline,
    std::stop_token stop, std::shared_ptr<PhaseTimes> phases);

sinks::v1::AnalyzeStarted DescribeStream(const StreamPlan& plan, const StreamLimits& limits,
                                         const std::string& request_id);

}  // namespace sinkd
