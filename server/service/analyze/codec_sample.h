// CodecSample: one input of an Analyze stream, proto to struct.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field ("sample.sample_id"), its value, its limit and the fix.
#pragma once

#include <cstddef>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/tokenizer/sample_encoder.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

inline constexpr size_t kMaxSampleIdBytes = 256;

// The caller's name for `sample`, cut to the limit: what an answer about it echoes.
std::string EchoedSampleId(const sinks::v1::Sample& sample);

// What the sample is, whatever its name: 32 bytes, as runs.proto defines them. Empty without input.
std::string InputDigest(const sinks::v1::Sample& sample);

// Takes the texts out of `sample`.
absl::StatusOr<SampleInput> DecodeSample(sinks::v1::Sample&& sample);

// Why `sample`, as far as it could be parsed, is not a message: the field whose text is not UTF-8.
// OK when all its texts are valid.
absl::Status CheckTexts(const sinks::v1::Sample& sample);

}  // namespace sinkd
