// ReadTextFile: a small file whole.
//
// Thread-safety: pure but for the reading. Errors: FAILED_PRECONDITION naming the file; never what
// it holds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

absl::StatusOr<std::string> ReadTextFile(const std::filesystem::path& file, size_t max_bytes);

}  // namespace sinkd
