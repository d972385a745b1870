#include "server/service/runs/decode_record.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/analysis/record_check.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

// So that sums over any number of records that fit a disk stay within 64 bits.
constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();
constexpr int kMaxRatePositions = 4096;

absl::Status Bad(const sinks::v1::SampleRecord& record, const std::string& field,
                 const std::string& value, const std::string& fix) {
  return InvalidArgument(
      absl::StrCat("record of sample ", record.sample_index(), ": ", field, " cannot be"),
      {.reason = "INCONSISTENT_RECORD", .subject = field, .value = value, .fix = fix});
}

absl::Status CheckCount(const sinks::v1::SampleRecord& record, const std::string& field,
                        int64_t value, int64_t most = kMaxCount) {
  if (value >= 0 && value <= most) return absl::OkStatus();
  return Bad(record, field, absl::StrCat(value), absl::StrCat("it is from 0 to ", most));
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

absl::StatusOr<Sink> DecodeSink(const sinks::v1::SampleRecord& record, const sinks::v1::Sink& in) {
  const std::optional<SinkKind> kind = DecodeKind(in.kind());
  if (!kind) {
    return Bad(record, "sink.kind", absl::StrCat(static_cast<int>(in.kind())),
               "use primary, secondary or noise");
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

absl::StatusOr<SinkRateCounts> DecodeCounts(const sinks::v1::SampleRecord& record) {
  const sinks::v1::SinkRateCounts& in = record.sink_rate();
  SINKD_RETURN_IF_ERROR(CheckCount(record, "sink_rate.cells", in.cells()));
  SINKD_RETURN_IF_ERROR(CheckCount(record, "sink_rate.hits", in.hits_size(), kMaxRatePositions));
  SINKD_RETURN_IF_ERROR(CheckCount(record, "sink_rate.undefined", in.undefined(), in.hits_size()));
  for (const int64_t hits : in.hits()) {
    SINKD_RETURN_IF_ERROR(CheckCount(record, "sink_rate.hits", hits, in.cells()));
  }
  return SinkRateCounts{.left_out = in.left_out(),
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

Portrait DecodePortrait(const sinks::v1::Portrait& in) {
  return {.token_texts = {in.token_texts().begin(), in.token_texts().end()},
          .columns = in.columns(),
          .state_norms = Values(in.state_norms())};
}

}  // namespace

absl::StatusOr<SampleRecord> DecodeRecord(const sinks::v1::SampleRecord& proto) {
  if (proto.continued()) return Bad(proto, "continued", "true", "join the parts of a record");
  SINKD_RETURN_IF_ERROR(CheckCount(proto, "positions", proto.positions()));
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
  SINKD_ASSIGN_OR_RETURN(out.primary, DecodeSink(proto, proto.primary()));
  out.sinks.reserve(static_cast<size_t>(proto.sinks_size()));
  for (const sinks::v1::Sink& sink : proto.sinks()) {
    SINKD_ASSIGN_OR_RETURN(out.sinks.emplace_back(), DecodeSink(proto, sink));
  }
  out.undecided = proto.undecided();
  if (proto.has_compensation()) out.compensation = DecodeCurves(proto.compensation());
  if (proto.has_sink_rate()) {
    SINKD_ASSIGN_OR_RETURN(out.sink_rate, DecodeCounts(proto));
  }
  if (proto.has_portrait()) out.portrait = DecodePortrait(proto.portrait());
  out.learned_sink_mass = Values(proto.learned_sink_mass());
  SINKD_RETURN_IF_ERROR(CheckRecord(out));
  return out;
}

}  // namespace sinkd
