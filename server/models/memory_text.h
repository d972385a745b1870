// Sizes for people.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace sinkd {

std::string BytesText(int64_t bytes);  // "812 bytes", "1.5 KiB", "300.0 MiB", "12.5 GiB"

}  // namespace sinkd
