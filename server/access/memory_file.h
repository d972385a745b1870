// MemoryFile: bytes in memory that have a path in this process, and appear there as a whole.
//
// Ownership: owns its descriptor, the path is good as long as it lives. Thread-safety: Write by one
// thread at a time, beside any readers. Errors: RESOURCE_EXHAUSTED where the process has no
// descriptor or memory left.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd {

class MemoryFile {
 public:
  static absl::StatusOr<MemoryFile> Make(std::string_view bytes);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile();

  const std::string& path() const { return path_; }

  // Whoever opens the path sees all of it, or all of what was there before.
  absl::Status Write(std::string_view bytes);

 private:
  explicit MemoryFile(int descriptor);

  int descriptor_;
  std::string path_;
};

}  // namespace sinkd
