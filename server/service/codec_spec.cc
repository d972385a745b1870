#include "server/service/codec_spec.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/models/registry.h"
#include "server/service/codec_model.h"

namespace sinkd {
namespace {

absl::Status UnknownEnum(const std::string& field, int value, int largest) {
  return InvalidArgument(absl::StrCat(field, " is not a value this server knows"),
                         {.reason = "UNKNOWN_ENUM_VALUE",
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("use a value from 0 to ", largest)});
}

absl::StatusOr<KindRule> DecodeKindRule(int value) {
  switch (value) {
    case sinks::v1::KIND_RULE_UNSPECIFIED:
    case sinks::v1::KIND_RULE_WINDOW:
      return KindRule::kWindow;
    case sinks::v1::KIND_RULE_PUBLISHED:
      return KindRule::kPublished;
    default:
      return UnknownEnum("spec.detection.kind_rule", value, sinks::v1::KindRule_MAX);
  }
}

absl::StatusOr<LastState> DecodeLastState(int value) {
  switch (value) {
    case sinks::v1::LAST_STATE_UNSPECIFIED:
    case sinks::v1::LAST_STATE_NORMED:
      return LastState::kNormed;
    case sinks::v1::LAST_STATE_RAW:
      return LastState::kRaw;
    default:
      return UnknownEnum("spec.detection.last_state", value, sinks::v1::LastState_MAX);
  }
}

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

absl::StatusOr<DetectionParameters> DecodeDetection(const sinks::v1::DetectionParameters& proto) {
  DetectionParameters out;
  switch (static_cast<int>(proto.preset())) {
    case sinks::v1::DETECTION_PRESET_UNSPECIFIED:
    case sinks::v1::DETECTION_PRESET_PUBLISHED_CODE:
      break;
    case sinks::v1::DETECTION_PRESET_PAPER_TEXT:
      out = PaperTextDetection();
      break;
    default:
      return UnknownEnum("spec.detection.preset", proto.preset(), sinks::v1::DetectionPreset_MAX);
  }
  if (proto.has_cosine_threshold()) out.cosine_threshold = proto.cosine_threshold();
  if (proto.has_min_norm_ratio()) out.min_norm_ratio = proto.min_norm_ratio();
  SINKD_ASSIGN_OR_RETURN(out.kind_rule, DecodeKindRule(proto.kind_rule()));
  SINKD_ASSIGN_OR_RETURN(out.last_state, DecodeLastState(proto.last_state()));
  return out;
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

absl::StatusOr<AnalysisSpec> DecodeAnalyses(const sinks::v1::AnalysisSpec& proto) {
  AnalysisSpec out;
  SINKD_ASSIGN_OR_RETURN(out.detection, DecodeDetection(proto.detection()));
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
  SINKD_RETURN_IF_ERROR(Validate(out));
  return out;
}

bool IsDate(std::string_view text) {
  const auto digits = [&](size_t begin, size_t length, int* out) {
    const std::string_view part = text.substr(begin, length);
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
           absl::SimpleAtoi(absl::string_view(part.data(), part.size()), out);
  };
  int year = 0, month = 0, day = 0;
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !digits(0, 4, &year) ||
      !digits(5, 2, &month) || !digits(8, 2, &day)) {
    return false;
  }
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

}  // namespace

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
  out.template_date = proto.has_template_date() ? proto.template_date() : default_template_date;
  if (!IsDate(out.template_date)) {
    return InvalidArgument("spec.template_date is not a date", {.reason = "INVALID_DATE",
                                                                .subject = "spec.template_date",
                                                                .value = Shorten(out.template_date),
                                                                .fix = "write it as YYYY-MM-DD"});
  }
  SINKD_ASSIGN_OR_RETURN(out.analysis, DecodeAnalyses(proto));
  return out;
}

namespace {

void EncodeDetection(const DetectionParameters& in, sinks::v1::DetectionParameters* out) {
  out->set_cosine_threshold(in.cosine_threshold);
  out->set_min_norm_ratio(in.min_norm_ratio);
  out->set_kind_rule(in.kind_rule == KindRule::kWindow ? sinks::v1::KIND_RULE_WINDOW
                                                       : sinks::v1::KIND_RULE_PUBLISHED);
  out->set_last_state(in.last_state == LastState::kNormed ? sinks::v1::LAST_STATE_NORMED
                                                          : sinks::v1::LAST_STATE_RAW);
}

void EncodeScores(const ScoreParameters& in, sinks::v1::ScoreParameters* out) {
  out->set_exclude_self(in.exclude_self);
  out->set_divisor(in.divisor == QueryDivisor::kFromPosition
                       ? sinks::v1::QUERY_DIVISOR_FROM_POSITION
                       : sinks::v1::QUERY_DIVISOR_ALL);
  out->set_curves(in.curves);
  out->set_all_positions(in.all_positions);
}

void EncodeAnalyses(const AnalysisSpec& in, sinks::v1::AnalysisSpec* out) {
  EncodeDetection(in.detection, out->mutable_detection());
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
}

}  // namespace

sinks::v1::AnalysisSpec EncodeSpec(const StreamSpec& spec) {
  sinks::v1::AnalysisSpec out;
  out.set_model(absl::StrCat("models/", spec.model_id));
  if (!spec.run_id.empty()) out.set_run_id(spec.run_id);
  out.set_fail_fast(spec.fail_fast);
  out.set_summary_only(spec.summary_only);
  out.set_template_date(spec.template_date);
  EncodeAnalyses(spec.analysis, &out);
  return out;
}

}  // namespace sinkd
