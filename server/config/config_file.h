// A configuration file: TOML (https://toml.io) without sections, dotted keys and tables, since no
// setting lives in one.
//
// Thread-safety: pure, but for reading the file.
// Errors: INVALID_ARGUMENT naming file, line and what the line holds; NOT_FOUND when the file
// cannot be read.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

// Key to values as text; a value that is no array is a list of one.
using ConfigFile = std::map<std::string, std::vector<std::string>>;

absl::StatusOr<ConfigFile> ParseConfigFile(std::string_view text, std::string_view file_name);
absl::StatusOr<ConfigFile> ReadConfigFile(const std::filesystem::path& file);

// `text` as a basic string, quotes included.
std::string QuoteToml(std::string_view text);

}  // namespace sinkd
