#include "server/service/calls/stream_opening.h"

#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/service/analyze/stream_spec.h"

namespace sinkd {
namespace {

absl::Status NothingToAnswer() {
  return FailedPrecondition(
      "the stream asks for neither records nor a summary, and no run keeps the records",
      {.reason = "NOTHING_TO_ANSWER",
       .subject = "spec.no_summary",
       .fix = "name a run, on a server with a store, or leave no_summary unset"});
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleRunner>> AcquireModel(const ModelCatalog& catalog,
                                                                 const std::string& id) {
  SINKD_ASSIGN_OR_RETURN(std::shared_ptr<const SampleRunner> runner, catalog.Acquire(id));
  if (runner->info().spec.blocks >= 2) return runner;
  return FailedPrecondition("a model of one block has no window for its primary sink",
                            {.reason = "MODEL_TOO_SHALLOW",
                             .subject = absl::StrCat("models/", id),
                             .fix = "use a model of at least two blocks"});
}

absl::StatusOr<std::shared_ptr<const StreamPlan>> OpenStream(
    const sinks::v1::AnalysisSpec& proto, const StreamResources& resources,
    const StreamLimits& limits, const Caller& caller, Executor::Clock::time_point deadline,
    std::stop_token stop, std::shared_ptr<PhaseTimes> phases) {
  SINKD_ASSIGN_OR_RETURN(v1::AnalysisSpec spec, CompleteSpec(proto, limits.template_date));
  SINKD_ASSIGN_OR_RETURN(std::shared_ptr<const SampleRunner> runner,
                         AcquireModel(resources.catalog, std::string(ModelIdOf(spec))));
  const auto slots = static_cast<size_t>(limits.read_ahead);
  const Account account = AccountOf(caller, LaneOf(spec));
  SINKD_ASSIGN_OR_RETURN(
      std::unique_ptr<Executor::Stream> device,
      resources.devices.For(HomeDevice(runner->info().device)).OpenStream(slots, account));
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<Executor::Stream> cpu,
                         resources.cpu.OpenStream(slots, account));
  const TraceRequest request = RequiredTrace(spec);
  auto queue = ForwardQueue::Open(
      runner, std::move(device),
      ForwardQueue::Options{.group = resources.groups.For(runner->info(), request),
                            .request = request,
                            .stop = stop,
                            .deadline = deadline,
                            .on_depth = [&metrics = resources.metrics,
                                         lane = LaneName(LaneOf(spec))](int64_t change) {
                              metrics.QueueDepthChanged(change);
                              metrics.lanes().DepthChanged(lane, change);
                            }});
  std::unique_ptr<RunKeeper> keeper;
  std::unique_ptr<Executor::Stream> storing;
  if (resources.store != nullptr && !spec.run_id().empty()) {
    SINKD_ASSIGN_OR_RETURN(storing, resources.storing->OpenStream(1));
    keeper = std::make_unique<RunKeeper>(*resources.store, spec);
  }
  if (!keeper && spec.summary_only() && spec.no_summary()) return NothingToAnswer();
  std::string arithmetic = ArithmeticOf(runner->info());
  return std::shared_ptr<const StreamPlan>(
      new StreamPlan{.spec = std::move(spec),
                     .runner = std::move(runner),
                     .arithmetic = std::move(arithmetic),
                     .principal = caller.principal,
                     .queue = std::move(queue),
                     .cpu = std::move(cpu),
                     .keeper = std::move(keeper),
                     .storing = std::move(storing),
                     .stop = std::move(stop),
                     .deadline = deadline,
                     .max_sample_tokens = limits.max_sample_tokens,
                     .metrics = resources.metrics,
                     .phases = std::move(phases)});
}

sinks::v1::AnalyzeStarted DescribeStream(const StreamPlan& plan, const StreamLimits& limits,
                                         const std::string& request_id) {
  const ModelInfo& info = plan.runner->info();
  sinks::v1::AnalyzeStarted out;
  *out.mutable_spec() = plan.spec;
  out.set_blocks(static_cast<int32_t>(info.spec.blocks));
  out.set_heads(static_cast<int32_t>(info.spec.heads));
  out.set_compute_type(info.compute_type);
  out.set_device(info.device);
  out.set_request_id(request_id);
  out.set_server_version(limits.version);
  out.set_arithmetic(plan.arithmetic);
  return out;
}

}  // namespace sinkd
