// UTF-8 in text that came from outside.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinkd {

// The byte offset of the first invalid UTF-8 sequence (overlong forms, surrogates and values past
// U+10FFFF are invalid); nullopt when `text` is valid.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// `text` with every byte that is not UTF-8 replaced by U+FFFD.
std::string RepairUtf8(std::string_view text);

}  // namespace sinkd
