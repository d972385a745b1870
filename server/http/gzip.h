// Gzip: compresses the bodies of answers.
//
// Thread-safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// `text` in the format of RFC 1952, or empty if zlib has no memory. Compresses for speed: JSON
// shrinks about five times, and more would cost more time than most networks save.
std::string Gzip(std::string_view text);

}  // namespace sinkd
