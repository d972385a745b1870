// A configuration file: TOML (https://toml.io) without sections, dotted keys and tables, which no
// setting needs.
//
// Thread-safety: pure, except for reading the file.
// Errors: INVALID_ARGUMENT naming the file, the line and its content; NOT_FOUND if the file cannot
// be read.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

// Values as text, by key; a value that is not an array becomes a list of one.
using ConfigFile = std::map<std::string, std::vector<std::string>>;

absl::StatusOr<ConfigFile> ParseConfigFile(std::string_view text, std::string_view file_name);
absl::StatusOr<ConfigFile> ReadConfigFile(const std::filesystem::path& file);

// `text` as a basic string, quotes included.
std::string QuoteToml(std::string_view text);

}  // namespace sinkd
