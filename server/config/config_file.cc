#include "server/config/config_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

// Where an error is in its file.
struct Place {
  std::string_view text;
  std::string_view file;
  toml::source_position at;
};

absl::Status Refuse(const Place& place, std::string_view what, std::string_view fix) {
  std::istringstream lines{std::string(place.text)};
  std::string line;
  for (toml::source_index i = 0; i < place.at.line; ++i) std::getline(lines, line);
  return InvalidArgument(fmt::format("{}, line {}: {}", place.file, place.at.line, what),
                         {.reason = "CONFIG_FILE_INVALID",
                          .subject = fmt::format("{}:{}", place.file, place.at.line),
                          .value = Shorten(line),
                          .fix = std::string(fix)});
}

// A string, number, true or false, date or time as text; nullopt for a table or an array.
std::optional<std::string> TextOf(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (!node.is_value()) return std::nullopt;
  std::ostringstream text;
  node.visit([&text](const auto& value) { text << value; });
  return text.str();
}

absl::StatusOr<std::vector<std::string>> ValuesOf(const toml::node& node, const Place& place) {
  if (node.is_table()) {
    return Refuse(place, "sections are not known here", "write all keys without a section or dots");
  }
  std::vector<std::string> values;
  const auto take = [&](const toml::node& each) -> absl::Status {
    std::optional<std::string> text = TextOf(each);
    if (!text)
      return Refuse(place, "an array holds single values", "write for example [\"a\", \"b\"]");
    values.push_back(*std::move(text));
    return absl::OkStatus();
  };
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& each : *array) SINKD_RETURN_IF_ERROR(take(each));
  } else {
    SINKD_RETURN_IF_ERROR(take(node));
  }
  return values;
}

}  // namespace

absl::StatusOr<ConfigFile> ParseConfigFile(std::string_view text, std::string_view file_name) {
  const toml::parse_result file = toml::parse(text);
  if (!file) {
    const toml::parse_error& error = file.error();
    return Refuse({text, file_name, error.source().begin}, error.description(),
                  "write key = value, with text between quotes: device = \"cpu\"");
  }
  ConfigFile values;
  for (const auto& [key, node] : file.table()) {
    SINKD_ASSIGN_OR_RETURN(values[std::string(key.str())],
                           ValuesOf(node, {text, file_name, key.source().begin}));
  }
  return values;
}

absl::StatusOr<ConfigFile> ReadConfigFile(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::error_code error;
  if (stream && !std::filesystem::is_directory(file, error)) {
    text.resize(kMaxFileBytes + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof() && text.size() <= kMaxFileBytes) {
    return NotFound(fmt::format("the configuration file cannot be read{}{}", errno == 0 ? "" : ": ",
                                errno == 0 ? "" : std::strerror(errno)),
                    {.reason = "CONFIG_FILE_UNREADABLE",
                     .subject = "--config",
                     .value = file.string(),
                     .fix = "name a file that this user can read"});
  }
  if (text.size() > kMaxFileBytes) {
    return InvalidArgument("a configuration file is at most 1 MiB",
                           {.reason = "CONFIG_FILE_INVALID",
                            .subject = "--config",
                            .value = file.string(),
                            .fix = "name a configuration file"});
  }
  return ParseConfigFile(text, file.string());
}

std::string QuoteToml(std::string_view text) {
  std::ostringstream quoted;
  quoted << toml::toml_formatter(toml::value<std::string>(text),
                                 toml::format_flags::allow_unicode_strings);
  return quoted.str();
}

}  // namespace sinkd
