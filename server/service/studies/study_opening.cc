#include "server/service/studies/study_opening.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/service/calls/codec_lane.h"
#include "server/service/calls/stream_opening.h"
#include "server/service/calls/template_date.h"
#include "server/service/models/codec_model.h"
#include "server/service/runs/codec_run.h"

namespace sinkd {
namespace {

using Clock = Executor::Clock;

// More than a message of the part takes, so that a report within the limit by this count is.
constexpr int64_t kEntryBytes = 64;
constexpr int64_t kPointBytes = 8;

absl::Status CheckSize(int64_t bytes, const std::string& field, const std::string& fix) {
  if (bytes <= kMaxReportBytes) return absl::OkStatus();
  return InvalidArgument(absl::StrCat("the report would take up to ", bytes >> 20,
                                      " MiB, the limit is ", kMaxReportBytes >> 20, " MiB"),
                         {.reason = "REPORT_TOO_LARGE", .subject = field, .fix = fix});
}

// Checks the two parts of a report whose size is a product of parameters.
absl::Status CheckReportSize(const v1::RunStudyRequest& request, int64_t samples, int64_t blocks) {
  if (request.has_massive()) {
    const int64_t rows = blocks * (1 + (request.massive().per_sample() ? samples : 0));
    return CheckSize(rows * request.massive().top() * kEntryBytes, "massive.top",
                     "ask for fewer entries or samples, or leave per_sample out");
  }
  const int64_t maps = std::min<int64_t>(blocks, request.cluster().blocks_before() + 1) *
                       request.cluster().tsne_sites_size();
  return CheckSize(maps * 2 * request.targets().limit() * kPointBytes, "cluster.tsne_sites",
                   "ask for maps of fewer sites or blocks, or lower targets.limit");
}

absl::Status CheckSamples(int64_t count) {
  if (count >= 1 && count <= kMaxStudySamples) return absl::OkStatus();
  return InvalidArgument(absl::StrCat("a study takes 1 to ", kMaxStudySamples, " samples"),
                         {.reason = count == 0 ? "NO_SAMPLES" : "TOO_MANY_SAMPLES",
                          .subject = "samples",
                          .value = absl::StrCat(count),
                          .fix = count == 0 ? "send at least one sample" : "send fewer samples"});
}

// Everything but what depends on the model.
absl::StatusOr<StudyPlan> ReadRequest(v1::RunStudyRequest message, const StreamLimits& limits) {
  StudyPlan plan;
  SINKD_ASSIGN_OR_RETURN(plan.model_id, DecodeModelName(message.model(), "model"));
  if (message.has_run()) {
    SINKD_ASSIGN_OR_RETURN(plan.run_id, DecodeRunName(message.run(), "run"));
  }
  SINKD_ASSIGN_OR_RETURN(
      *message.mutable_template_date(),
      DecodeTemplateDate(message.has_template_date() ? &message.template_date() : nullptr,
                         limits.template_date, ""));
  SINKD_ASSIGN_OR_RETURN(plan.lane, DecodeLane(message.lane(), message.has_run(), "lane"));
  message.set_lane(EncodeLane(plan.lane));
  if (message.has_time_budget_seconds()) {
    plan.time_budget = std::chrono::duration<double>(message.time_budget_seconds());
  }
  FillStudyDefaults(message);
  plan.request = std::move(message);
  return plan;
}

}  // namespace

absl::StatusOr<StudyPlan> OpenStudy(v1::RunStudyRequest message, int64_t samples,
                                    const StreamResources& resources, const StreamLimits& limits,
                                    const Caller& caller) {
  SINKD_RETURN_IF_ERROR(CheckSamples(samples));
  SINKD_ASSIGN_OR_RETURN(StudyPlan plan, ReadRequest(std::move(message), limits));
  SINKD_ASSIGN_OR_RETURN(plan.runner, AcquireModel(resources.catalog, plan.model_id));
  const int64_t blocks = plan.runner->info().spec.blocks;
  SINKD_RETURN_IF_ERROR(CheckStudy(plan.request, blocks));
  SINKD_RETURN_IF_ERROR(CheckReportSize(plan.request, samples, blocks));
  const Account account = AccountOf(caller, plan.lane);
  SINKD_ASSIGN_OR_RETURN(
      plan.device,
      resources.devices.For(HomeDevice(plan.runner->info().device)).OpenStream(1, account));
  SINKD_ASSIGN_OR_RETURN(plan.cpu, resources.cpu.OpenStream(1, account));
  return plan;
}

sinks::v1::StudyStarted DescribeStudy(const StudyPlan& plan, const StreamLimits& limits,
                                      const std::string& request_id) {
  const ModelInfo& info = plan.runner->info();
  sinks::v1::StudyStarted out;
  *out.mutable_request() = plan.request;
  out.set_blocks(static_cast<int32_t>(info.spec.blocks));
  out.set_compute_type(info.compute_type);
  out.set_device(info.device);
  out.set_request_id(request_id);
  out.set_server_version(limits.version);
  return out;
}

Clock::time_point EndOfStudy(Clock::time_point now, Clock::time_point deadline,
                             const std::optional<std::chrono::duration<double>>& time_budget) {
  Clock::time_point end = Clock::time_point::max();
  if (deadline != Clock::time_point::max()) {
    constexpr Clock::duration kLeast = std::chrono::milliseconds(200);
    constexpr Clock::duration kMost = std::chrono::seconds(2);
    const Clock::duration room = std::max(deadline - now, Clock::duration::zero());
    // A call shorter than the moment itself is halved.
    end = deadline - std::min(std::clamp(room / 20, kLeast, kMost), room / 2);
  }
  if (!time_budget) return end;
  return std::min(end, now + std::chrono::duration_cast<Clock::duration>(*time_budget));
}

}  // namespace sinkd
