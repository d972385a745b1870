// What is read off sinks.v1.SampleRecord and its sinks in several places.
//
// A is the number of blocks with softmax attention; what has one value for each of them, [A], is in
// the order of attention_blocks.
// Thread-safety: pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include <google/protobuf/repeated_field.h>

#include "sinks/v1/records.pb.h"

namespace sinkd {

namespace v1 = ::sinks::v1;

struct Level {
  int32_t l_start = 0;   // first layer at which the sink shows
  int32_t lifetime = 0;  // number of layers at which it shows
  auto operator<=>(const Level&) const = default;
};

inline Level LevelOf(const v1::Sink& sink) {
  return {.l_start = sink.l_start(), .lifetime = sink.lifetime()};
}

inline bool IsSecondary(const v1::Sink& sink) {
  return sink.kind() == v1::SINK_KIND_SECONDARY;
}

inline std::optional<double> ScoreOf(const v1::Sink& sink) {
  return sink.has_score() ? std::optional(sink.score()) : std::nullopt;
}

// A: how many values a curve over the blocks with attention has.
inline int64_t AttentionBlockCount(const v1::SampleRecord& record) {
  return record.attention_blocks().empty() ? record.layers() : record.attention_blocks_size();
}

// The block of each of them.
inline int32_t AttentionBlock(const v1::SampleRecord& record, int64_t i) {
  return record.attention_blocks().empty() ? static_cast<int32_t>(i)
                                           : record.attention_blocks(static_cast<int>(i));
}

template <typename Value>
std::span<const Value> SpanOf(const google::protobuf::RepeatedField<Value>& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

}  // namespace sinkd
