// Text as a terminal shows it: columns, token text in quotes, shortening, wrapping.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinkd::cli {

// Columns `text` takes: 2 for wide characters, 0 for combining ones. Knows no escape sequences.
int DisplayWidth(std::string_view text);

// `text` cut to at most `width` columns, with an ellipsis where something was cut off.
std::string ShortenToWidth(std::string_view text, int width, bool unicode = true);

// `text` in lines of at most `width` columns (at least 1), broken at blanks, which go; a word that
// is wider is broken before the last '.' or behind the last '-' that fits, else where the width
// ends. At least one line.
std::vector<std::string> WrapToWidth(std::string_view text, int width);

// `text` with its lines of more than `width` columns broken at blanks, what follows two columns
// deeper than the line. Escape sequences take no columns.
std::string FoldLines(std::string_view text, int width);

// `text` as JSON would quote it: in double quotes, control characters as \n, \x1b, invisible ones
// as \u{200b}; at most `width` columns in all.
std::string QuoteToken(std::string_view text, int width = 24, bool unicode = true);

// `text` with blanks after it (before it when `right`) up to `width` columns.
std::string Pad(std::string_view text, int width, bool right = false);

}  // namespace sinkd::cli
