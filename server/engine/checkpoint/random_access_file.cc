#include "server/engine/checkpoint/random_access_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<RandomAccessFile> RandomAccessFile::Open(const std::filesystem::path& path,
                                                        std::string reason) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int error = errno;
  RandomAccessFile file(descriptor, path.filename().string(), std::move(reason));
  if (descriptor < 0) return file.Error(StrCat("cannot be opened: ", std::strerror(error)));
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return file.Error("is not a regular file");
  }
  file.bytes_ = status.st_size;
  return file;
}

RandomAccessFile::~RandomAccessFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

RandomAccessFile::RandomAccessFile(RandomAccessFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      name_(std::move(other.name_)),
      reason_(std::move(other.reason_)) {}

RandomAccessFile& RandomAccessFile::operator=(RandomAccessFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  std::swap(reason_, other.reason_);
  return *this;
}

absl::Status RandomAccessFile::Read(int64_t offset, int64_t bytes, void* out) const {
  char* cursor = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, cursor, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error(StrCat("cannot be read: ", std::strerror(errno)));
    if (got == 0) return Error(StrCat("ends at byte ", offset, ": it is truncated"));
    cursor += got;
    offset += got;
    bytes -= got;
  }
  return absl::OkStatus();
}

absl::Status RandomAccessFile::Error(std::string_view what) const {
  return FailedPrecondition(StrCat(name_, ": ", what),
                            {.reason = reason_, .subject = name_, .fix = "fetch the file again"});
}

}  // namespace sinkd
