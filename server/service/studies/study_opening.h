// StudyOpening: turns a request into a StudyPlan, into the response that describes it, and into the
// time at which the study must end.
//
// Thread-safety: pure functions over shared resources.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

#include "server/mechanism/study.h"
#include "server/scheduler/fair_order.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/caller.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

// The largest report; clients raise their limit on messages (default 4 MiB) to this.
inline constexpr int64_t kMaxReportBytes = int64_t{64} << 20;
inline constexpr int64_t kMaxStudySamples = 10000;

// Everything about a study that is fixed once its request has been accepted.
// Ownership: keeps the model in memory.
struct StudyPlan {
  v1::RunStudyRequest request;  // without its samples
  std::string model_id;         // without "models/"
  std::string run_id;           // without "runs/"; empty: none
  Lane lane = Lane::kInteractive;
  std::optional<std::chrono::duration<double>> time_budget;
  std::shared_ptr<const SampleRunner> runner;
  std::unique_ptr<Executor::Stream> device;  // one step waits at a time
  std::unique_ptr<Executor::Stream> cpu;     // one sample to encode, or the report
};

// Checks a request without its samples, fills in defaults, acquires the model and reserves slots in
// the queues. Errors: see RunStudy in the proto.
absl::StatusOr<StudyPlan> OpenStudy(sinks::v1::RunStudyRequest message, int64_t samples,
                                    const StreamResources& resources, const StreamLimits& limits,
                                    const Caller& caller);

sinks::v1::StudyStarted DescribeStudy(const StudyPlan& plan, const StreamLimits& limits,
                                      const std::string& request_id);

// When a study stops and reports what it has: at the end of its budget, or shortly before the
// deadline (5% of the time until then, 0.2 to 2 seconds). time_point::max(): never.
Executor::Clock::time_point EndOfStudy(
    Executor::Clock::time_point now, Executor::Clock::time_point deadline,
    const std::optional<std::chrono::duration<double>>& time_budget);

}  // namespace sinkd
