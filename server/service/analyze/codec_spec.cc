#include "server/service/analyze/codec_spec.h"

#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/models/registry.h"
#include "server/service/analyze/codec_detection.h"
#include "server/service/calls/codec_lane.h"
#include "server/service/models/codec_model.h"

namespace sinkd {
namespace {

constexpr char kPrefix[] = "spec.";

absl::StatusOr<QueryDivisor> DecodeDivisor(int value) {
  switch (value) {
    case sinks::v1::QUERY_DIVISOR_UNSPECIFIED:
    case sinks::v1::QUERY_DIVISOR_FROM_POSITION:
      return QueryDivisor::kFromPosition;
    case sinks::v1::QUERY_DIVISOR_ALL:
      return QueryDivisor::kAll;
    default:
      return UnknownEnum("spec.scores.divisor", value, sinks::v1::QueryDivisor_MAX);
  }
}

absl::StatusOr<ScoreParameters> DecodeScores(const sinks::v1::ScoreParameters& proto) {
  ScoreParameters out;
  out.exclude_self = proto.exclude_self();
  SINKD_ASSIGN_OR_RETURN(out.divisor, DecodeDivisor(proto.divisor()));
  out.curves = proto.curves();
  out.all_positions = proto.all_positions();
  return out;
}

absl::StatusOr<SinkRateParameters> DecodeSinkRate(const sinks::v1::SinkRateParameters& proto) {
  constexpr int64_t kGu2024FirstTokens = 64;
  SinkRateParameters out;
  switch (static_cast<int>(proto.preset())) {
    case sinks::v1::SINK_RATE_PRESET_UNSPECIFIED:
      break;
    case sinks::v1::SINK_RATE_PRESET_GU2024:
      out.first_tokens = kGu2024FirstTokens;
      break;
    default:
      return UnknownEnum("spec.sink_rate.preset", proto.preset(), sinks::v1::SinkRatePreset_MAX);
  }
  if (proto.has_epsilon()) out.epsilon = proto.epsilon();
  if (proto.has_positions()) out.positions = proto.positions();
  if (proto.has_first_tokens()) out.first_tokens = proto.first_tokens();
  return out;
}

LevelParameters DecodeLevels(const sinks::v1::LevelParameters& proto) {
  LevelParameters out;
  if (proto.has_min_share()) out.min_share = proto.min_share();
  if (proto.has_top_tokens()) out.top_tokens = proto.top_tokens();
  out.include_primary_position = proto.include_primary_position();
  return out;
}

CompensationParameters DecodeCompensation(const sinks::v1::CompensationParameters& proto) {
  CompensationParameters out;
  if (proto.has_bootstrap_samples()) out.bootstrap_samples = proto.bootstrap_samples();
  out.seed = static_cast<uint64_t>(proto.seed());
  return out;
}

PortraitParameters DecodePortrait(const sinks::v1::PortraitParameters& proto) {
  PortraitParameters out;
  if (proto.has_samples()) out.samples = proto.samples();
  return out;
}

}  // namespace

absl::StatusOr<AnalysisSpec> DecodeAnalyses(const sinks::v1::AnalysisSpec& proto) {
  AnalysisSpec out;
  SINKD_ASSIGN_OR_RETURN(out.detection, DecodeDetection(proto.detection(), kPrefix));
  if (proto.has_scores()) {
    SINKD_ASSIGN_OR_RETURN(out.scores, DecodeScores(proto.scores()));
  }
  if (proto.has_sink_rate()) {
    SINKD_ASSIGN_OR_RETURN(out.sink_rate, DecodeSinkRate(proto.sink_rate()));
  }
  if (proto.has_levels()) out.levels = DecodeLevels(proto.levels());
  if (proto.has_regression()) {
    out.regression = RegressionParameters{.include_primary = proto.regression().include_primary(),
                                          .points = proto.regression().points()};
  }
  if (proto.has_compensation()) out.compensation = DecodeCompensation(proto.compensation());
  if (proto.has_portrait()) out.portrait = DecodePortrait(proto.portrait());
  SINKD_RETURN_IF_ERROR(Validate(out));
  return out;
}

absl::StatusOr<StreamSpec> DecodeSpec(const sinks::v1::AnalysisSpec& proto,
                                      const std::string& default_template_date) {
  StreamSpec out;
  SINKD_ASSIGN_OR_RETURN(out.model_id, DecodeModelName(proto.model(), "spec.model"));
  out.run_id = proto.run_id();
  if (!out.run_id.empty() && !IsModelId(out.run_id)) {  // run ids are spelled as model ids are
    return InvalidArgument("spec.run_id is not a run id",
                           {.reason = "INVALID_RUN_ID",
                            .subject = "spec.run_id",
                            .value = Shorten(out.run_id),
                            .fix = "match ^[a-z0-9][a-z0-9._-]{0,63}$"});
  }
  out.fail_fast = proto.fail_fast();
  out.summary_only = proto.summary_only();
  SINKD_ASSIGN_OR_RETURN(
      out.template_date,
      DecodeTemplateDate(proto.has_template_date() ? &proto.template_date() : nullptr,
                         default_template_date, kPrefix));
  SINKD_ASSIGN_OR_RETURN(out.analysis, DecodeAnalyses(proto));
  out.run_labels = {proto.run_labels().begin(), proto.run_labels().end()};
  out.keep_run_open = proto.keep_run_open();
  out.no_summary = proto.no_summary();
  out.replace = proto.replace();
  SINKD_ASSIGN_OR_RETURN(out.lane, DecodeLane(proto.lane(), !out.run_id.empty(), "spec.lane"));
  return out;
}

namespace {

void EncodeScores(const ScoreParameters& in, sinks::v1::ScoreParameters* out) {
  out->set_exclude_self(in.exclude_self);
  out->set_divisor(in.divisor == QueryDivisor::kFromPosition
                       ? sinks::v1::QUERY_DIVISOR_FROM_POSITION
                       : sinks::v1::QUERY_DIVISOR_ALL);
  out->set_curves(in.curves);
  out->set_all_positions(in.all_positions);
}

void FillAnalyses(const AnalysisSpec& in, sinks::v1::AnalysisSpec* out) {
  *out->mutable_detection() = EncodeDetection(in.detection);
  if (in.scores) EncodeScores(*in.scores, out->mutable_scores());
  if (in.sink_rate) {
    out->mutable_sink_rate()->set_epsilon(in.sink_rate->epsilon);
    out->mutable_sink_rate()->set_positions(static_cast<int32_t>(in.sink_rate->positions));
    out->mutable_sink_rate()->set_first_tokens(static_cast<int32_t>(in.sink_rate->first_tokens));
  }
  if (in.levels) {
    out->mutable_levels()->set_min_share(in.levels->min_share);
    out->mutable_levels()->set_top_tokens(static_cast<int32_t>(in.levels->top_tokens));
    out->mutable_levels()->set_include_primary_position(in.levels->include_primary_position);
  }
  if (in.regression) {
    out->mutable_regression()->set_include_primary(in.regression->include_primary);
    out->mutable_regression()->set_points(in.regression->points);
  }
  if (in.compensation) {
    out->mutable_compensation()->set_bootstrap_samples(
        static_cast<int32_t>(in.compensation->bootstrap_samples));
    out->mutable_compensation()->set_seed(static_cast<int64_t>(in.compensation->seed));
  }
  if (in.portrait) {
    out->mutable_portrait()->set_samples(static_cast<int32_t>(in.portrait->samples));
  }
}

}  // namespace

sinks::v1::AnalysisSpec EncodeSpec(const StreamSpec& spec) {
  sinks::v1::AnalysisSpec out;
  out.set_model(absl::StrCat("models/", spec.model_id));
  if (!spec.run_id.empty()) out.set_run_id(spec.run_id);
  out.set_fail_fast(spec.fail_fast);
  out.set_summary_only(spec.summary_only);
  out.set_template_date(spec.template_date);
  FillAnalyses(spec.analysis, &out);
  out.mutable_run_labels()->insert(spec.run_labels.begin(), spec.run_labels.end());
  if (spec.keep_run_open) out.set_keep_run_open(true);
  out.set_lane(EncodeLane(spec.lane));
  if (spec.no_summary) out.set_no_summary(true);
  if (spec.replace) out.set_replace(true);
  return out;
}

sinks::v1::AnalysisSpec EncodeAnalyses(const AnalysisSpec& analyses) {
  sinks::v1::AnalysisSpec out;
  FillAnalyses(analyses, &out);
  return out;
}

}  // namespace sinkd
