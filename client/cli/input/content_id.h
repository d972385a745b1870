// ContentId: a name for a sample that has none, made from what it holds, so that the same sample
// has the same name whenever and wherever it is read.
//
// Thread-safety: pure function.
#pragma once

#include <string>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

// "content-" and 32 hexadecimal digits.
std::string ContentId(const sinks::v1::Sample& sample);

}  // namespace sinkd::cli
