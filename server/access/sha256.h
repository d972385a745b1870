// Sha256: a digest of bytes as text.
//
// Thread-safety: pure function.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace sinkd
