#include "server/service/analyze/stream_spec.h"

#include <utility>

#include "server/base/status.h"
#include "server/models/registry.h"
#include "server/service/calls/codec_lane.h"
#include "server/service/calls/template_date.h"
#include "server/service/models/codec_model.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

absl::Status CheckRunId(const std::string& id) {
  if (id.empty() || IsRunId(id)) return absl::OkStatus();
  return InvalidArgument("spec.run_id is not a run id",
                         {.reason = "INVALID_RUN_ID",
                          .subject = "spec.run_id",
                          .value = Shorten(id),
                          .fix = "match ^[a-z0-9][a-z0-9._-]{0,63}$"});
}

// An option is in a complete spec only where it is set.
void DropUnsetOptions(v1::AnalysisSpec& spec) {
  if (spec.run_id().empty()) spec.clear_run_id();
  if (!spec.keep_run_open()) spec.clear_keep_run_open();
  if (!spec.no_summary()) spec.clear_no_summary();
  if (!spec.replace()) spec.clear_replace();
}

}  // namespace

absl::StatusOr<v1::AnalysisSpec> CompleteSpec(v1::AnalysisSpec spec,
                                              const std::string& default_template_date) {
  spec.DiscardUnknownFields();
  SINKD_RETURN_IF_ERROR(DecodeModelName(spec.model(), "spec.model").status());
  SINKD_RETURN_IF_ERROR(CheckRunId(spec.run_id()));
  SINKD_ASSIGN_OR_RETURN(
      *spec.mutable_template_date(),
      DecodeTemplateDate(spec.has_template_date() ? &spec.template_date() : nullptr,
                         default_template_date, "spec."));
  FillAnalysisDefaults(spec);
  SINKD_RETURN_IF_ERROR(CheckAnalyses(spec));
  SINKD_ASSIGN_OR_RETURN(const Lane lane,
                         DecodeLane(spec.lane(), !spec.run_id().empty(), "spec.lane"));
  spec.set_lane(EncodeLane(lane));
  spec.set_fail_fast(spec.fail_fast());
  spec.set_summary_only(spec.summary_only());
  DropUnsetOptions(spec);
  return spec;
}

absl::StatusOr<v1::AnalysisSpec> CompleteAnalyses(const v1::AnalysisSpec& spec) {
  v1::AnalysisSpec analyses = AnalysesOf(spec);
  analyses.DiscardUnknownFields();
  FillAnalysisDefaults(analyses);
  SINKD_RETURN_IF_ERROR(CheckAnalyses(analyses));
  return analyses;
}

std::string_view ModelIdOf(const v1::AnalysisSpec& spec) {
  constexpr std::string_view kPrefix = "models/";
  return std::string_view(spec.model()).substr(kPrefix.size());
}

Lane LaneOf(const v1::AnalysisSpec& spec) {
  return spec.lane() == v1::LANE_BATCH ? Lane::kBatch : Lane::kInteractive;
}

}  // namespace sinkd
