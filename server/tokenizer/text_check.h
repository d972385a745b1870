// CheckUtf8: the error for text that is not UTF-8.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// INVALID_ARGUMENT, naming `subject` and the offset of the first invalid byte.
absl::Status CheckUtf8(std::string_view text, std::string subject);

}  // namespace sinkd
