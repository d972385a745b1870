#include "server/service/analyze/codec_record.h"

#include <algorithm>
#include <span>
#include <utility>

#include "server/analysis/record_builder.h"

namespace sinkd {
namespace {

constexpr size_t kFramingBytes = 64;  // of a message around its payload, generously

sinks::v1::Sink EncodeSink(const Sink& sink) {
  sinks::v1::Sink out;
  out.set_position(sink.position);
  out.set_token_id(sink.token_id);
  out.set_token_text(sink.token_text);
  out.set_kind(EncodeKind(sink.kind));
  out.set_l_start(sink.level.l_start);
  out.set_lifetime(sink.level.lifetime);
  out.mutable_layers()->Assign(sink.layers.begin(), sink.layers.end());
  out.set_contiguous(sink.contiguous);
  out.set_margin(sink.margin);
  out.set_mlp_norm(sink.mlp_norm);
  out.set_state_norm(sink.state_norm);
  if (sink.score) out.set_score(*sink.score);
  if (sink.score_maximum) out.set_score_maximum(*sink.score_maximum);
  out.mutable_score_curve()->Assign(sink.score_curve.begin(), sink.score_curve.end());
  return out;
}

void EncodeCurves(const CompensationCurves& in, sinks::v1::CompensationCurves* out) {
  out->mutable_primary()->Assign(in.primary.begin(), in.primary.end());
  out->mutable_secondary()->Assign(in.secondary.begin(), in.secondary.end());
  out->mutable_rest()->Assign(in.rest.begin(), in.rest.end());
  out->mutable_primary_norm()->Assign(in.primary_norm.begin(), in.primary_norm.end());
}

void EncodeCounts(const SinkRateCounts& in, sinks::v1::SinkRateCounts* out) {
  out->set_left_out(in.left_out);
  out->set_cells(in.cells);
  out->mutable_hits()->Assign(in.hits.begin(), in.hits.end());
  out->set_undefined(in.undefined);
}

void EncodeGates(const GateMeans& in, sinks::v1::GateMeans* out) {
  out->mutable_all()->Assign(in.all.begin(), in.all.end());
  out->mutable_primary()->Assign(in.primary.begin(), in.primary.end());
  out->mutable_secondary()->Assign(in.secondary.begin(), in.secondary.end());
}

void EncodePortrait(const Portrait& in, sinks::v1::Portrait* out) {
  for (const std::string& text : in.token_texts) out->add_token_texts(text);
  out->set_columns(static_cast<int32_t>(in.columns));
  out->mutable_state_norms()->Assign(in.state_norms.begin(), in.state_norms.end());
}

void EncodeOutliers(const OutlierTokens& in, sinks::v1::OutlierTokens* out) {
  out->set_count(in.count);
  for (const OutlierToken& token : in.largest) {
    sinks::v1::OutlierToken* added = out->add_largest();
    added->set_position(token.position);
    added->set_token_id(token.token_id);
    added->set_ratio(token.ratio);
  }
}

sinks::v1::SampleRecord EncodeWithoutSinks(const SampleRecord& in) {
  sinks::v1::SampleRecord out;
  out.set_sample_index(in.sample_index);
  out.set_sample_id(in.sample_id);
  out.set_layers(static_cast<int32_t>(in.layers));
  out.set_positions(in.positions);
  out.set_prompt_tokens(in.prompt_tokens);
  out.set_response_tokens(in.response_tokens);
  out.set_chat_rendered(in.chat_rendered);
  out.set_token_spans_boundary(in.token_spans_boundary);
  out.set_window_start(in.window_start);
  out.set_window_end(in.window_end);
  *out.mutable_primary() = EncodeSink(in.primary);
  out.set_undecided(in.undecided);
  if (in.compensation) EncodeCurves(*in.compensation, out.mutable_compensation());
  if (in.sink_rate) EncodeCounts(*in.sink_rate, out.mutable_sink_rate());
  if (in.gates) EncodeGates(*in.gates, out.mutable_gates());
  out.mutable_attention_blocks()->Assign(in.attention_blocks.begin(), in.attention_blocks.end());
  if (in.portrait) EncodePortrait(*in.portrait, out.mutable_portrait());
  if (in.outliers) EncodeOutliers(*in.outliers, out.mutable_outliers());
  if (!in.arithmetic.empty()) out.set_arithmetic(in.arithmetic);
  out.mutable_learned_sink_mass()->Assign(in.learned_sink_mass.begin(), in.learned_sink_mass.end());
  return out;
}

}  // namespace

sinks::v1::SinkKind EncodeKind(SinkKind kind) {
  switch (kind) {
    case SinkKind::kPrimary:
      return sinks::v1::SINK_KIND_PRIMARY;
    case SinkKind::kSecondary:
      return sinks::v1::SINK_KIND_SECONDARY;
    case SinkKind::kNoise:
      return sinks::v1::SINK_KIND_NOISE;
  }
  return sinks::v1::SINK_KIND_UNSPECIFIED;
}

std::vector<sinks::v1::SampleRecord> EncodeRecord(const SampleRecord& record, size_t max_bytes) {
  constexpr size_t kSinkFramingBytes = 8;  // tag and length
  std::vector<sinks::v1::SampleRecord> parts(1, EncodeWithoutSinks(record));
  size_t bytes = parts.back().ByteSizeLong() + kFramingBytes;
  for (const Sink& in : record.sinks) {
    sinks::v1::Sink sink = EncodeSink(in);
    const size_t sink_bytes = sink.ByteSizeLong() + kSinkFramingBytes;
    if (bytes + sink_bytes > max_bytes && parts.back().sinks_size() > 0) {
      parts.back().set_continued(true);
      parts.emplace_back().set_sample_index(record.sample_index);
      bytes = kFramingBytes;
    }
    bytes += sink_bytes;
    *parts.back().add_sinks() = std::move(sink);
  }
  return parts;
}

int64_t HeadsPerChunk(int64_t positions, size_t max_bytes) {
  const auto row_bytes = static_cast<int64_t>(sizeof(float)) * std::max<int64_t>(positions, 1);
  return std::max<int64_t>(1, static_cast<int64_t>(max_bytes - kFramingBytes) / row_bytes);
}

sinks::v1::AlphaChunk EncodeAlpha(const v1::ScoreParameters& parameters, const Trace& trace,
                                  int64_t sample_index, int64_t block, int64_t first_head,
                                  int64_t heads) {
  sinks::v1::AlphaChunk out;
  out.set_sample_index(sample_index);
  out.set_block(static_cast<int32_t>(block));
  out.set_first_head(static_cast<int32_t>(first_head));
  out.set_heads(static_cast<int32_t>(heads));
  out.set_positions(trace.positions);
  const auto width = static_cast<size_t>(trace.positions);
  out.mutable_values()->Resize(static_cast<int>(heads * trace.positions), 0.0F);
  const std::span<float> values(out.mutable_values()->mutable_data(),
                                static_cast<size_t>(heads) * width);
  for (int64_t h = 0; h < heads; ++h) {
    AlphaRow(parameters, trace, block, first_head + h,
             values.subspan(static_cast<size_t>(h) * width, width));
  }
  return out;
}

}  // namespace sinkd
