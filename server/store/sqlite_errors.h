// Turns SQLite's result codes into the store's errors.
#pragma once

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// No space, quota exceeded, or the maximum file size reached.
bool IsOutOfSpace(int system_error);

// A file of the store that the system refused to open.
absl::Status SqliteFileError(const std::filesystem::path& file, int system_error);

absl::Status SqliteDamaged(const std::filesystem::path& file, std::string_view cause);

// `code` is an extended result code, `system_error` the errno behind it or 0.
absl::Status SqliteError(const std::filesystem::path& file, int code, std::string_view message,
                         int system_error);

}  // namespace sinkd
