#include "client/cli/commands/backup_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace sinkd::cli {

absl::StatusOr<BackupFile> BackupFile::Open(const std::string& path) {
  const std::string part = path + ".part";
  const int descriptor = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return absl::InvalidArgumentError(
        fmt::format("cannot write to {}: {}", part, std::strerror(errno)));
  }
  return BackupFile(path, descriptor);
}

BackupFile::BackupFile(std::string path, int descriptor)
    : path_(std::move(path)), part_(path_ + ".part"), descriptor_(descriptor) {}

BackupFile::BackupFile(BackupFile&& other) noexcept
    : path_(other.path_),
      part_(other.part_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      total_bytes_(other.total_bytes_) {}

BackupFile::~BackupFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(part_.c_str());
}

absl::Status BackupFile::Error(const char* what) const {
  return absl::InternalError(fmt::format("cannot {} {}: {}", what, part_, std::strerror(errno)));
}

absl::Status BackupFile::Add(const sinks::v1::BackUpStoreResponse& piece) {
  if (piece.has_total_bytes()) total_bytes_ = piece.total_bytes();
  std::string_view rest = piece.data();
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return Error("write to");
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
  }
  bytes_ += static_cast<int64_t>(piece.data().size());
  return absl::OkStatus();
}

absl::Status BackupFile::Finish() {
  if (bytes_ == 0 || bytes_ != total_bytes_) {
    return absl::DataLossError(
        fmt::format("the server sent {} of the {} bytes of its store", bytes_, total_bytes_));
  }
  if (fsync(descriptor_) != 0) return Error("write to");
  if (std::rename(part_.c_str(), path_.c_str()) != 0) return Error("rename");
  close(std::exchange(descriptor_, -1));
  return absl::OkStatus();
}

}  // namespace sinkd::cli
