// The name of a sample in messages.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// Returns `status` with the prefix "sample 3 (its id): ", and the same code and detail. An empty
// `id` is omitted. Thread-safety: a pure function.
absl::Status NameSample(const absl::Status& status, int64_t index, std::string_view id);

}  // namespace sinkd
