// A configuration file: the flat part of TOML. One `key = value` a line, where a value is a string
// ("basic" with \" \\ \n \t \r escapes, or 'literal'), a bare word (numbers, true, false), or an
// array of those, [ "a", "b" ], which may go over several lines. `#` starts a comment outside of
// strings. Sections are refused, since no key lives in one.
//
// Thread-safety: pure, but for reading the file.
// Errors: INVALID_ARGUMENT naming file and line; NOT_FOUND when the file cannot be read.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

// Key to values, in file order; a value that is no array is a list of one.
using ConfigFile = std::map<std::string, std::vector<std::string>>;

absl::StatusOr<ConfigFile> ParseConfigFile(std::string_view text, std::string_view file_name);
absl::StatusOr<ConfigFile> ReadConfigFile(const std::filesystem::path& file);

// `text` as a basic string, quotes included.
std::string QuoteToml(std::string_view text);

}  // namespace sinkd
