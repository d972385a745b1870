// Parameters by their rules (proto/sinks/v1/options.proto): defaults filled in and limits checked,
// for any message whose fields have some.
//
// Both look at the message and at the single messages set in it, not at repeated messages.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <absl/status/status.h>
#include <google/protobuf/message.h>

namespace sinkd {

// A preset chooses the defaults of its message, and is then cleared.
void FillDefaults(google::protobuf::Message& message);

// `blocks`: the model's. INVALID_ARGUMENT naming the field by its path from `path` on
// ("swap.blocks[1]" with path ""), its value and its limit; of an absent field nothing is checked.
absl::Status CheckParameters(const google::protobuf::Message& message, const std::string& path,
                             int64_t blocks);

}  // namespace sinkd
