#include "server/engine/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/safetensors_header.h"

namespace sinkd {
namespace {

constexpr int64_t kMaxHeaderBytes = int64_t{100} << 20;

absl::Status FileError(std::string_view file, std::string_view what) {
  return FailedPrecondition(
      StrCat(file, ": ", what),
      {.reason = "BAD_SAFETENSORS", .subject = std::string(file), .fix = "fetch the file again"});
}

absl::Status ReadFully(int descriptor, std::string_view file, int64_t offset, int64_t bytes,
                       void* out) {
  char* cursor = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, cursor, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(file, StrCat("cannot be read: ", std::strerror(errno)));
    if (got == 0) return FileError(file, StrCat("ends at byte ", offset, ": it is truncated"));
    cursor += got;
    offset += got;
    bytes -= got;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return FileError(name, StrCat("cannot be opened: ", std::strerror(errno)));
  SafetensorsFile file(descriptor, name);
  SINKD_RETURN_IF_ERROR(file.ReadHeader());
  return file;
}

absl::Status SafetensorsFile::ReadHeader() {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return FileError(name_, "is not a regular file");
  }
  const int64_t file_bytes = status.st_size;
  if (file_bytes < 8) return FileError(name_, StrCat("has only ", file_bytes, " bytes"));
  unsigned char prefix[8] = {};
  SINKD_RETURN_IF_ERROR(ReadFully(descriptor_, name_, 0, 8, prefix));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = (length << 8) | prefix[i];
  if (length > static_cast<uint64_t>(kMaxHeaderBytes)) {
    return FileError(name_,
                     StrCat("announces a header of ", length, " bytes, over the limit of 100 MiB"));
  }
  if (static_cast<int64_t>(length) > file_bytes - 8) {
    return FileError(name_, StrCat("announces a header of ", length, " bytes, but holds ",
                                   file_bytes - 8, ": it is truncated"));
  }
  std::string header(length, '\0');
  SINKD_RETURN_IF_ERROR(
      ReadFully(descriptor_, name_, 8, static_cast<int64_t>(length), header.data()));
  SINKD_ASSIGN_OR_RETURN(
      tensors_,
      ParseSafetensorsHeader(name_, header, 8 + static_cast<int64_t>(length), file_bytes));
  return absl::OkStatus();
}

SafetensorsFile::~SafetensorsFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      tensors_(std::move(other.tensors_)) {}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(name_, other.name_);
  std::swap(tensors_, other.tensors_);
  return *this;
}

absl::Status SafetensorsFile::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                                   void* out) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) return FileError(name_, StrCat("has no tensor ", tensor));
  if (offset < 0 || bytes < 0 || offset > found->second.bytes - bytes) {
    return FileError(name_, StrCat("tensor ", tensor, ": read past its end"));
  }
  return ReadFully(descriptor_, name_, found->second.offset + offset, bytes, out);
}

}  // namespace sinkd
