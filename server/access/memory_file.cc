#include "server/access/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status NoRoom() {
  return ResourceExhausted(
      StrCat("no file in memory can be made: ", std::strerror(errno)),
      {.reason = "MEMORY_FILE", .subject = "descriptors", .fix = "raise the limit of open files"});
}

absl::StatusOr<int> Fill(std::string_view bytes) {
  const int descriptor = memfd_create("sinkd", MFD_CLOEXEC);
  if (descriptor < 0) return NoRoom();
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      absl::Status error = NoRoom();
      close(descriptor);
      return error;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return descriptor;
}

}  // namespace

absl::StatusOr<MemoryFile> MemoryFile::Make(std::string_view bytes) {
  SINKD_ASSIGN_OR_RETURN(const int descriptor, Fill(bytes));
  return MemoryFile(descriptor);
}

MemoryFile::MemoryFile(int descriptor)
    : descriptor_(descriptor), path_(StrCat("/proc/self/fd/", descriptor)) {}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status MemoryFile::Write(std::string_view bytes) {
  SINKD_ASSIGN_OR_RETURN(const int filled, Fill(bytes));
  // What the path leads to changes in one step.
  absl::Status status = dup3(filled, descriptor_, O_CLOEXEC) < 0 ? NoRoom() : absl::OkStatus();
  close(filled);
  return status;
}

}  // namespace sinkd
