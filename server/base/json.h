// JSON read in linear time, within limits, by nlohmann's SAX parser: its own tree builder with a
// callback looks through the parent at the end of each object.
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT whose message says what is wrong and where, to go behind a file's name
// ("is not valid JSON at line 3, column 9: ..."); CANCELLED.
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
  size_t depth = 64;          // containers within each other
  size_t values = 1'000'000;  // scalars and containers: an empty one takes 100 bytes of memory
  bool unique_keys = false;   // false: the last of two counts
};

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits = {},
                                         std::stop_token stop = {});

// Gives each member of the object that `text` is to `member`, so that no two are in memory at once.
// `limits.values` holds for each of them. A key that comes twice is given twice. An error of
// `member` ends the reading and is returned.
absl::Status ReadJsonMembers(
    std::string_view text, const JsonLimits& limits, std::stop_token stop,
    const std::function<absl::Status(const std::string& key, const nlohmann::json& value)>& member);

}  // namespace sinkd
