// RecordParts: records and alpha of single samples in messages of about 1 MiB.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/engine/trace.h"

namespace sinkd {

inline constexpr size_t kMaxChunkBytes = 1 << 20;

// The record in messages of at most about `max_bytes`: the first holds everything but the sinks
// that do not fit, all but the last have `continued` set. Only a single sink, or a record without
// its sinks, that is larger alone makes a larger message.
std::vector<v1::SampleRecord> SplitRecord(v1::SampleRecord record,
                                          size_t max_bytes = kMaxChunkBytes);

// Heads of one block that fit into an AlphaChunk of `max_bytes`, at least one.
int64_t HeadsPerChunk(int64_t positions, size_t max_bytes = kMaxChunkBytes);

// alpha[block, first_head .. first_head + heads, 0 .. T) of `trace`.
v1::AlphaChunk EncodeAlpha(const v1::ScoreParameters& parameters, const Trace& trace,
                           int64_t sample_index, int64_t block, int64_t first_head, int64_t heads);

}  // namespace sinkd
