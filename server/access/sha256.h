// Sha256: a digest of bytes, as bytes and as text.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// 32 bytes.
std::string Sha256Bytes(std::string_view bytes);
// Two hexadecimal digits per byte.
std::string Hex(std::string_view bytes);
// 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace sinkd
