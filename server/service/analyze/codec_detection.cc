#include "server/service/analyze/codec_detection.h"

#include <absl/strings/str_cat.h>

#include "server/base/calendar.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

absl::StatusOr<KindRule> DecodeKindRule(int value, const std::string& prefix) {
  switch (value) {
    case sinks::v1::KIND_RULE_UNSPECIFIED:
    case sinks::v1::KIND_RULE_WINDOW:
      return KindRule::kWindow;
    case sinks::v1::KIND_RULE_PUBLISHED:
      return KindRule::kPublished;
    default:
      return UnknownEnum(prefix + "detection.kind_rule", value, sinks::v1::KindRule_MAX);
  }
}

absl::StatusOr<LastState> DecodeLastState(int value, const std::string& prefix) {
  switch (value) {
    case sinks::v1::LAST_STATE_UNSPECIFIED:
    case sinks::v1::LAST_STATE_NORMED:
      return LastState::kNormed;
    case sinks::v1::LAST_STATE_RAW:
      return LastState::kRaw;
    default:
      return UnknownEnum(prefix + "detection.last_state", value, sinks::v1::LastState_MAX);
  }
}

}  // namespace

absl::Status UnknownEnum(const std::string& field, int value, int largest) {
  return InvalidArgument(absl::StrCat(field, " is not a value this server knows"),
                         {.reason = "UNKNOWN_ENUM_VALUE",
                          .subject = field,
                          .value = absl::StrCat(value),
                          .fix = absl::StrCat("use a value from 0 to ", largest)});
}

absl::StatusOr<DetectionParameters> DecodeDetection(const sinks::v1::DetectionParameters& proto,
                                                    const std::string& prefix) {
  DetectionParameters out;
  switch (static_cast<int>(proto.preset())) {
    case sinks::v1::DETECTION_PRESET_UNSPECIFIED:
    case sinks::v1::DETECTION_PRESET_PUBLISHED_CODE:
      break;
    case sinks::v1::DETECTION_PRESET_PAPER_TEXT:
      out = PaperTextDetection();
      break;
    default:
      return UnknownEnum(prefix + "detection.preset", proto.preset(),
                         sinks::v1::DetectionPreset_MAX);
  }
  if (proto.has_cosine_threshold()) out.cosine_threshold = proto.cosine_threshold();
  if (proto.has_min_norm_ratio()) out.min_norm_ratio = proto.min_norm_ratio();
  SINKD_ASSIGN_OR_RETURN(out.kind_rule, DecodeKindRule(proto.kind_rule(), prefix));
  SINKD_ASSIGN_OR_RETURN(out.last_state, DecodeLastState(proto.last_state(), prefix));
  return out;
}

sinks::v1::DetectionParameters EncodeDetection(const DetectionParameters& in) {
  sinks::v1::DetectionParameters out;
  out.set_cosine_threshold(in.cosine_threshold);
  out.set_min_norm_ratio(in.min_norm_ratio);
  out.set_kind_rule(in.kind_rule == KindRule::kWindow ? sinks::v1::KIND_RULE_WINDOW
                                                      : sinks::v1::KIND_RULE_PUBLISHED);
  out.set_last_state(in.last_state == LastState::kNormed ? sinks::v1::LAST_STATE_NORMED
                                                         : sinks::v1::LAST_STATE_RAW);
  return out;
}

absl::StatusOr<std::string> DecodeTemplateDate(const std::string* given,
                                               const std::string& otherwise,
                                               const std::string& prefix) {
  const std::string& date = given != nullptr ? *given : otherwise;
  if (IsDate(date)) return date;
  const std::string field = prefix + "template_date";
  return InvalidArgument(field + " is not a date",
                         {.reason = "INVALID_DATE",
                          .subject = field,
                          .value = Shorten(date),
                          .fix = "write a day of the calendar as YYYY-MM-DD, from 1000-01-01"});
}

}  // namespace sinkd
