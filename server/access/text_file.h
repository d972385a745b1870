// ReadTextFile: reads a whole small file.
//
// Thread-safety: may be called from any thread. Errors: FAILED_PRECONDITION, which names the file
// and never quotes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

absl::StatusOr<std::string> ReadTextFile(const std::filesystem::path& file, size_t max_bytes);

}  // namespace sinkd
