#include "server/service/studies/study_opening.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/service/calls/stream_opening.h"

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

// The two parts of a report whose size grows with a product of what is asked for.
absl::Status CheckReportSize(const StudyParameters& parameters, int64_t samples, int64_t blocks) {
  if (const auto* massive = std::get_if<MassiveParameters>(&parameters.study)) {
    const int64_t rows = blocks * (1 + (massive->per_sample ? samples : 0));
    return CheckSize(rows * massive->top * kEntryBytes, "massive.top",
                     "ask for fewer entries or samples, or leave per_sample out");
  }
  if (const auto* cluster = std::get_if<ClusterParameters>(&parameters.study)) {
    const int64_t maps = std::min(blocks, cluster->blocks_before + 1) *
                         static_cast<int64_t>(cluster->tsne_sites.size());
    return CheckSize(maps * 2 * parameters.targets.limit * kPointBytes, "cluster.tsne_sites",
                     "ask for maps of fewer sites or blocks, or lower targets.limit");
  }
  return absl::OkStatus();
}

struct NothingFound {
  const std::string& why;

  StudyFindings operator()(const AlignParameters&) const { return AlignReport(); }
  StudyFindings operator()(const PcaParameters&) const { return PcaReport{.undefined = why}; }
  StudyFindings operator()(const ClusterParameters&) const {
    return ClusterReport{.undefined = why};
  }
  StudyFindings operator()(const SwapParameters&) const { return SwapReport{.undefined = why}; }
  StudyFindings operator()(const SteerParameters&) const { return SteerReport{.undefined = why}; }
  StudyFindings operator()(const EntropyParameters&) const { return EntropyReport(); }
  StudyFindings operator()(const NormsParameters&) const { return NormsReport(); }
  StudyFindings operator()(const MassiveParameters&) const { return MassiveReport(); }
};

}  // namespace

absl::StatusOr<StudyPlan> OpenStudy(const sinks::v1::RunStudyRequest& proto,
                                    const StreamResources& resources, const StreamLimits& limits,
                                    const Caller& caller) {
  StudyPlan plan;
  SINKD_ASSIGN_OR_RETURN(plan.request, DecodeStudyRequest(proto, limits.template_date));
  SINKD_ASSIGN_OR_RETURN(plan.runner, AcquireModel(resources.catalog, plan.request.model_id));
  const int64_t blocks = plan.runner->info().spec.blocks;
  SINKD_RETURN_IF_ERROR(Validate(plan.request.parameters, blocks));
  SINKD_RETURN_IF_ERROR(CheckReportSize(plan.request.parameters, proto.samples_size(), blocks));
  const Account account = AccountOf(caller, plan.request.lane);
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
  *out.mutable_request() = EncodeStudyRequest(plan.request);
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

StudyReport EmptyReport(const StudyParameters& parameters, const std::string& why) {
  return {.partial = true,
          .partial_reason = why,
          .findings = std::visit(NothingFound{why}, parameters.study)};
}

}  // namespace sinkd
