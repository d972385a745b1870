// What all JSON output is made of. Messages are written in the standard JSON mapping of Protocol
// Buffers: lowerCamelCase names, 64-bit integers as strings, NaN as "NaN", absent fields left out.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include <google/protobuf/message.h>

#include "client/cli/output/result_writer.h"

namespace sinkd::cli {

// `message` in one line.
std::string ToJson(const google::protobuf::Message& message);

// {"type": TYPE, TYPE: body}.
std::string TypedJson(const char* type, const std::string& body);

// The error with "origin", where its sample came from.
std::string SampleErrorJson(const sinks::v1::SampleError& error, const std::string& origin);
std::string BadInputJson(const InputError& error);
std::string OutcomeJson(const Outcome& outcome);

}  // namespace sinkd::cli
