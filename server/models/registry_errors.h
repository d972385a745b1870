// The registry's errors, one function each; registry.h says when each code applies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

namespace sinkd {

std::string ModelSubject(std::string_view id);  // "models/a"

absl::Status CheckId(std::string_view id);  // INVALID_ARGUMENT, naming the id and the rule
absl::Status NoSuchModel(std::string_view id, const std::vector<std::string>& known);

// `doing` is "loaded" or "unloaded".
absl::Status Busy(std::string_view id, std::string_view doing);

// `failure` is the message of the last failed load, empty if there is none.
absl::Status NotLoaded(std::string_view id, std::string_view failure);

}  // namespace sinkd
