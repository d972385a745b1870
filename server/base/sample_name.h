// How messages name a sample.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// `status` with "sample 3 (its id): " before its message; code and detail stay. An empty `id` is
// left out. Thread-safety: a pure function.
absl::Status NameSample(const absl::Status& status, int64_t index, std::string_view id);

}  // namespace sinkd
