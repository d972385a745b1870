// RandomAccessFile: a regular file read with pread.
//
// Ownership: holds one file descriptor. Thread-safety: Read may run on several threads.
// Errors: FAILED_PRECONDITION with the reason the file was opened with, naming the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace sinkd {

class RandomAccessFile {
 public:
  // `reason` is the ErrorDetail reason of this file's errors. Refuses everything but regular files,
  // without waiting for a pipe's writer.
  static absl::StatusOr<RandomAccessFile> Open(const std::filesystem::path& path,
                                               std::string reason);
  ~RandomAccessFile();
  RandomAccessFile(RandomAccessFile&& other) noexcept;
  RandomAccessFile& operator=(RandomAccessFile&& other) noexcept;

  const std::string& name() const { return name_; }  // without its folder
  int64_t bytes() const { return bytes_; }

  // Reads `bytes` bytes at `offset` into `out`; fails if the file ends before that.
  absl::Status Read(int64_t offset, int64_t bytes, void* out) const;

  // An error about this file: "<name>: <what>".
  absl::Status Error(std::string_view what) const;

 private:
  RandomAccessFile(int descriptor, std::string name, std::string reason)
      : descriptor_(descriptor), name_(std::move(name)), reason_(std::move(reason)) {}

  int descriptor_ = -1;
  int64_t bytes_ = 0;
  std::string name_;
  std::string reason_;
};

}  // namespace sinkd
