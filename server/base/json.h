// Reads JSON in linear time, within limits, with nlohmann's SAX parser. (nlohmann's tree builder
// with a callback searches the parent at the end of each object.)
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT; its message says what is wrong and where, and continues a sentence that
// begins with a file's name ("is not valid JSON at line 3, column 9: ..."). CANCELLED.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

namespace sinkd {

struct JsonLimits {
  size_t depth = 64;          // nested containers
  size_t values = 1'000'000;  // scalars and containers; an empty one takes 100 bytes of memory
  bool unique_keys = false;   // false: the last of several equal keys counts
};

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits = {},
                                         std::stop_token stop = {});

// Passes each member of the object in `text` to `member`, one at a time, so that only one is in
// memory. `limits.values` applies to each of them. Repeated keys are passed repeatedly. An error
// from `member` ends the reading and is returned.
absl::Status ReadJsonMembers(
    std::string_view text, const JsonLimits& limits, std::stop_token stop,
    const std::function<absl::Status(const std::string& key, const nlohmann::json& value)>& member);

}  // namespace sinkd
