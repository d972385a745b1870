// Whether stored floating-point values are all finite, told from their bits. Internal to the
// engine.
#pragma once

#include <cstdint>

#include <c10/core/ScalarType.h>

namespace sinkd {

// Looks at `bytes` bytes of values of `type`: float32, float64, float16, bfloat16 or float8.
// One thread: reading the file is what takes time.
bool AllFinite(at::ScalarType type, const void* values, int64_t bytes);

}  // namespace sinkd
