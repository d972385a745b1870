#include "server/service/runs/decode_record.h"

#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/analysis/record_check.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

absl::Status Bad(const sinks::v1::SampleRecord& record, const std::string& field,
                 const std::string& value, const std::string& fix) {
  return InvalidArgument(
      absl::StrCat("record of sample ", record.sample_index(), ": ", field, " cannot be"),
      {.reason = "INCONSISTENT_RECORD", .subject = field, .value = value, .fix = fix});
}

template <typename T>
std::vector<T> Values(const google::protobuf::RepeatedField<T>& in) {
  return {in.begin(), in.end()};
}

std::optional<SinkKind> DecodeKind(sinks::v1::SinkKind kind) {
  switch (kind) {
    case sinks::v1::SINK_KIND_PRIMARY:
      return SinkKind::kPrimary;
    case sinks::v1::SINK_KIND_SECONDARY:
      return SinkKind::kSecondary;
    case sinks::v1::SINK_KIND_NOISE:
      return SinkKind::kNoise;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<Sink> DecodeSink(const sinks::v1::SampleRecord& record, const std::string& place,
                                const sinks::v1::Sink& in) {
  const std::optional<SinkKind> kind = DecodeKind(in.kind());
  if (!kind) {
    return Bad(record, place + ".kind", absl::StrCat(static_cast<int>(in.kind())),
               "it is SINK_KIND_PRIMARY, SINK_KIND_SECONDARY or SINK_KIND_NOISE");
  }
  Sink out;
  out.position = in.position();
  out.token_id = in.token_id();
  out.token_text = in.token_text();
  out.kind = *kind;
  out.level = {.l_start = in.l_start(), .lifetime = in.lifetime()};
  out.layers = Values(in.layers());
  out.contiguous = in.contiguous();
  out.margin = in.margin();
  out.mlp_norm = in.mlp_norm();
  out.state_norm = in.state_norm();
  if (in.has_score()) out.score = in.score();
  if (in.has_score_maximum()) out.score_maximum = in.score_maximum();
  out.score_curve = Values(in.score_curve());
  return out;
}

SinkRateCounts DecodeCounts(const sinks::v1::SinkRateCounts& in) {
  return {.left_out = in.left_out(),
          .cells = in.cells(),
          .hits = Values(in.hits()),
          .undefined = in.undefined()};
}

CompensationCurves DecodeCurves(const sinks::v1::CompensationCurves& in) {
  return {.primary = Values(in.primary()),
          .secondary = Values(in.secondary()),
          .rest = Values(in.rest()),
          .primary_norm = Values(in.primary_norm())};
}

GateMeans DecodeGates(const sinks::v1::GateMeans& in) {
  return {.all = Values(in.all()),
          .primary = Values(in.primary()),
          .secondary = Values(in.secondary())};
}

Portrait DecodePortrait(const sinks::v1::Portrait& in) {
  return {.token_texts = {in.token_texts().begin(), in.token_texts().end()},
          .columns = in.columns(),
          .state_norms = Values(in.state_norms())};
}

OutlierTokens DecodeOutliers(const sinks::v1::OutlierTokens& in) {
  OutlierTokens out{.count = in.count(), .largest = {}};
  for (const sinks::v1::OutlierToken& token : in.largest()) {
    out.largest.push_back(
        {.position = token.position(), .token_id = token.token_id(), .ratio = token.ratio()});
  }
  return out;
}

}  // namespace

absl::StatusOr<SampleRecord> DecodeRecord(const sinks::v1::SampleRecord& proto) {
  if (proto.continued()) return Bad(proto, "continued", "true", "join the parts of a record");
  SampleRecord out;
  out.sample_index = proto.sample_index();
  out.sample_id = proto.sample_id();
  out.layers = proto.layers();
  out.positions = proto.positions();
  out.prompt_tokens = proto.prompt_tokens();
  out.response_tokens = proto.response_tokens();
  out.chat_rendered = proto.chat_rendered();
  out.token_spans_boundary = proto.token_spans_boundary();
  out.window_start = proto.window_start();
  out.window_end = proto.window_end();
  SINKD_ASSIGN_OR_RETURN(out.primary, DecodeSink(proto, "primary", proto.primary()));
  out.sinks.reserve(static_cast<size_t>(proto.sinks_size()));
  for (int i = 0; i < proto.sinks_size(); ++i) {
    SINKD_ASSIGN_OR_RETURN(out.sinks.emplace_back(),
                           DecodeSink(proto, absl::StrCat("sinks[", i, "]"), proto.sinks(i)));
  }
  out.undecided = proto.undecided();
  out.arithmetic = proto.arithmetic();
  if (proto.has_compensation()) out.compensation = DecodeCurves(proto.compensation());
  if (proto.has_sink_rate()) out.sink_rate = DecodeCounts(proto.sink_rate());
  if (proto.has_outliers()) out.outliers = DecodeOutliers(proto.outliers());
  if (proto.has_gates()) out.gates = DecodeGates(proto.gates());
  out.attention_blocks = Values(proto.attention_blocks());
  if (proto.has_portrait()) out.portrait = DecodePortrait(proto.portrait());
  out.learned_sink_mass = Values(proto.learned_sink_mass());
  SINKD_RETURN_IF_ERROR(CheckRecord(out));
  return out;
}

}  // namespace sinkd
