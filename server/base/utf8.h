// UTF-8 checks for text that came from outside.
#pragma once

#include <optional>
#include <string_view>

namespace sinkd {

// The byte offset of the first invalid UTF-8 sequence (overlong forms, surrogates and values past
// U+10FFFF are invalid); nullopt when `text` is valid.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

}  // namespace sinkd
