#include "server/analysis/record_check.h"

#include <iterator>
#include <limits>
#include <string>

#include <absl/strings/str_cat.h>

#include "server/analysis/catalog.h"
#include "server/analysis/gates.h"
#include "server/analysis/learned_sinks.h"
#include "server/analysis/outlier_tokens.h"
#include "server/analysis/record_part.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr int64_t kMostIdBytes = 256;
constexpr double kLeast = RecordPart::kLeastShare, kMost = RecordPart::kMostShare;
constexpr double kAny = RecordPart::kAny;

absl::Status CheckHead(const v1::SampleRecord& record) {
  constexpr int64_t kMostIndex = std::numeric_limits<int64_t>::max();
  const RecordPart whole(record);
  if (record.continued()) return whole.Bad("continued", "true", "join the parts of a record");
  SINKD_RETURN_IF_ERROR(whole.Integer("sample_index", record.sample_index(), 0, kMostIndex));
  SINKD_RETURN_IF_ERROR(whole.Size("sample_id", std::ssize(record.sample_id()), 0, kMostIdBytes));
  SINKD_RETURN_IF_ERROR(whole.Size("arithmetic", std::ssize(record.arithmetic()), 0, kMostIdBytes));
  if (record.arithmetic().find('\n') != std::string::npos) {
    return whole.Bad("arithmetic", "several lines", "it is one line");
  }
  SINKD_RETURN_IF_ERROR(whole.Integer("layers", record.layers(), 2, kMostLayers));
  SINKD_RETURN_IF_ERROR(whole.Integer("positions", record.positions(), 1, RecordPart::kMostCount));
  SINKD_RETURN_IF_ERROR(
      whole.Size("attention_blocks", record.attention_blocks_size(), 0, record.layers()));
  SINKD_RETURN_IF_ERROR(whole.Blocks("attention_blocks", "blocks", record.attention_blocks()));
  SINKD_RETURN_IF_ERROR(
      whole.Integer("prompt_tokens", record.prompt_tokens(), 0, record.positions()));
  return whole.Integer("response_tokens", record.response_tokens(), 0, record.positions());
}

absl::Status CheckKind(const RecordPart& part, const v1::Sink& sink) {
  const int kind = sink.kind();
  if (kind >= v1::SINK_KIND_PRIMARY && kind <= v1::SINK_KIND_NOISE) return absl::OkStatus();
  return part.Bad("kind", absl::StrCat(kind),
                  "it is SINK_KIND_PRIMARY, SINK_KIND_SECONDARY or SINK_KIND_NOISE");
}

absl::Status CheckLevel(const RecordPart& part, const v1::SampleRecord& record,
                        const v1::Sink& sink) {
  const google::protobuf::RepeatedField<int32_t>& layers = sink.layers();
  SINKD_RETURN_IF_ERROR(part.Size("layers", layers.size(), 1, record.layers()));
  SINKD_RETURN_IF_ERROR(part.Blocks("layers", "layers", layers));
  const int64_t lifetime = layers.size();
  SINKD_RETURN_IF_ERROR(part.Integer("l_start", sink.l_start(), layers[0], layers[0]));
  SINKD_RETURN_IF_ERROR(part.Integer("lifetime", sink.lifetime(), lifetime, lifetime));
  const bool contiguous = layers[layers.size() - 1] - layers[0] + 1 == lifetime;
  if (sink.contiguous() == contiguous) return absl::OkStatus();
  return part.Bad("contiguous", sink.contiguous() ? "true" : "false",
                  contiguous ? "its layers have no gap" : "its layers have a gap");
}

absl::Status CheckSink(const RecordPart& part, const v1::SampleRecord& record, const v1::Sink& sink,
                       int64_t first_position) {
  SINKD_RETURN_IF_ERROR(
      part.Integer("position", sink.position(), first_position, record.positions() - 1));
  SINKD_RETURN_IF_ERROR(part.Integer("token_id", sink.token_id(), 0, RecordPart::kMostCount));
  SINKD_RETURN_IF_ERROR(CheckKind(part, sink));
  SINKD_RETURN_IF_ERROR(CheckLevel(part, record, sink));
  SINKD_RETURN_IF_ERROR(part.Number("margin", sink.margin(), 0, kAny));
  SINKD_RETURN_IF_ERROR(part.Number("mlp_norm", sink.mlp_norm(), 0, kAny));
  SINKD_RETURN_IF_ERROR(part.Number("state_norm", sink.state_norm(), 0, kAny));
  SINKD_RETURN_IF_ERROR(part.Number("score", sink.score(), kLeast, kMost));
  SINKD_RETURN_IF_ERROR(part.Number("score_maximum", sink.score_maximum(), kLeast, kMost));
  if (sink.score_curve().empty()) return absl::OkStatus();
  return part.Curve("score_curve", sink.score_curve(), kLeast, kMost);
}

absl::Status CheckPrimary(const v1::SampleRecord& record) {
  const RecordPart part(record, "primary"), whole(record);
  const v1::Sink& primary = record.primary();
  SINKD_RETURN_IF_ERROR(CheckSink(part, record, primary, 0));
  const int64_t candidates = record.chat_rendered() ? 3 : 2;
  SINKD_RETURN_IF_ERROR(part.Integer("position", primary.position(), 0, candidates - 1));
  if (primary.kind() != v1::SINK_KIND_PRIMARY) {
    return part.Bad("kind", "another kind", "it is SINK_KIND_PRIMARY");
  }
  // Its layers are the window.
  const int64_t start = primary.layers(0);
  const int64_t end = int64_t{primary.layers(primary.layers_size() - 1)} + 1;
  SINKD_RETURN_IF_ERROR(whole.Integer("window_start", record.window_start(), start, start));
  return whole.Integer("window_end", record.window_end(), end, end);
}

absl::Status CheckSinks(const v1::SampleRecord& record) {
  int64_t before = record.primary().position();
  for (int i = 0; i < record.sinks_size(); ++i) {
    const v1::Sink& sink = record.sinks(i);
    SINKD_RETURN_IF_ERROR(CheckSink(RecordPart(record, "sinks", i), record, sink, before + 1));
    before = sink.position();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRecord(const v1::SampleRecord& record) {
  SINKD_RETURN_IF_ERROR(CheckHead(record));
  SINKD_RETURN_IF_ERROR(CheckPrimary(record));
  SINKD_RETURN_IF_ERROR(CheckSinks(record));
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.check) SINKD_RETURN_IF_ERROR(analysis.check(record));
  }
  SINKD_RETURN_IF_ERROR(CheckOutlierTokens(record));
  SINKD_RETURN_IF_ERROR(CheckGateMeans(record));
  return CheckLearnedSinkMass(record);
}

}  // namespace sinkd
