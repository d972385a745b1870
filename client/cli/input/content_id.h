// What a sample holds, as a digest, whenever and wherever it is read.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

// The digest, 32 bytes.
std::string Sha256(std::string_view bytes);

// A name for a sample that has none: "content-" and 32 hexadecimal digits.
std::string ContentId(const sinks::v1::Sample& sample);

// 32 bytes, as runs.proto defines them, whatever the sample's name; empty without input.
std::string InputDigest(const sinks::v1::Sample& sample);

}  // namespace sinkd::cli
