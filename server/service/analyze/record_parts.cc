#include "server/service/analyze/record_parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "server/analysis/record_builder.h"

namespace sinkd {
namespace {

constexpr size_t kFramingBytes = 64;  // of a message around its payload, generously

}  // namespace

std::vector<v1::SampleRecord> SplitRecord(v1::SampleRecord record, size_t max_bytes) {
  constexpr size_t kSinkFramingBytes = 8;  // tag and length
  google::protobuf::RepeatedPtrField<v1::Sink> sinks;
  sinks.Swap(record.mutable_sinks());
  const int64_t sample_index = record.sample_index();
  size_t bytes = record.ByteSizeLong() + kFramingBytes;
  std::vector<v1::SampleRecord> parts;
  parts.push_back(std::move(record));
  for (v1::Sink& sink : sinks) {
    const size_t sink_bytes = sink.ByteSizeLong() + kSinkFramingBytes;
    if (bytes + sink_bytes > max_bytes && parts.back().sinks_size() > 0) {
      parts.back().set_continued(true);
      parts.emplace_back().set_sample_index(sample_index);
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

v1::AlphaChunk EncodeAlpha(const v1::ScoreParameters& parameters, const Trace& trace,
                           int64_t sample_index, int64_t block, int64_t first_head, int64_t heads) {
  v1::AlphaChunk out;
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
