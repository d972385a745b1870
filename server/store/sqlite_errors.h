// What SQLite's result codes mean for the store.
#pragma once

#include <filesystem>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd {

// No space, no quota, or the largest size a file may have here.
bool IsOutOfSpace(int system_error);

// A file of the store that the system would not open.
absl::Status SqliteFileError(const std::filesystem::path& file, int system_error);

absl::Status SqliteDamaged(const std::filesystem::path& file, std::string_view cause);

// `code` is an extended result code, `system_error` the errno behind it or 0.
absl::Status SqliteError(const std::filesystem::path& file, int code, std::string_view message,
                         int system_error);

}  // namespace sinkd
