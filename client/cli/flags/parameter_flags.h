// Flags of a message's parameters: one for each field with a rule (proto/sinks/v1/options.proto),
// with the field's comment as its help.
//
// Thread-safety: none; used while the parser is built.
#pragma once

#include <functional>
#include <string>

#include <google/protobuf/message.h>
#include <CLI/App.hpp>

namespace sinkd::cli {

// The flags fill `message()`, which is called when one is given. A field that is true by default
// has a flag that makes it false, "--no-loss"; a flag named after a preset sets it, "--gu2024".
void AddParameterFlags(CLI::App& app, const std::string& group,
                       const google::protobuf::Descriptor& type,
                       const std::function<google::protobuf::Message&()>& message);

}  // namespace sinkd::cli
